#include "splitc/group/groups.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/observe/activity.h"
#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/group/started.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

std::uint64_t number_of(std::uint32_t proc, std::uint64_t made) noexcept {
  return std::uint64_t{proc} << 40 | made;
}

}  // namespace

// --- Calls that were started

bool StartedGroupCall::advance() {
  try {
    world().router().need_all(call().name);  // its program may poll instead of waiting
    if (!performer_) performer_.emplace(*group_, name_, plan_);
    if (!performer_->advance()) return false;
    performer_->check();
  } catch (...) {
    thrown_ = std::current_exception();
  }
  performer_.reset();
  end();
  if (Groups* const groups = Groups::existing()) groups->keep(orphan());
  return true;
}

void StartedGroupCall::give_up() noexcept {
  performer_.reset();
  thrown_ =
      std::make_exception_ptr(Error(std::string(call().name) + ": the job has ended before it"));
  end();
}

void StartedGroupCall::wait(am::SourceLocation where) {
  const Call on_behalf(call().name, where);
  check_may_wait(on_behalf);
  if (!done()) Groups::of_world().wait_for(*this, on_behalf);
  rethrow();
}

void StartedGroupCall::drop() noexcept {
  dropped_ = true;
  Groups* const groups = Groups::existing();
  if (done() && groups != nullptr) groups->keep(orphan());
}

void start_group_call(const SharedOwner<StartedGroupCall>& call) {
  Groups& groups = Groups::of_world();
  groups.check_may_call(call->call());
  groups.start(call);
}

// --- Groups

Groups::Groups(am::Endpoint& endpoint) : mail_(endpoint) {
  the_ = this;
  // To one that has died; who waits for it hears of that by its own call.
  endpoint.on_returned([this](const am::Returned& message) {
    if (message.status == am::Status::kUnreachable && mail_.has_sent(message)) return;
    world().router().fatal(am::sentence(message));
  });
}

Groups::~Groups() {
  if (!busy_.empty()) context().bundle.remove(*this);
  for (Group* const group : std::exchange(busy_, {})) {
    const auto calls = std::exchange(group->queue, {});
    for (const auto& call : calls) call->give_up();
  }
  notified_ = nullptr;
  everybody_ = nullptr;
  job_ = nullptr;
  node_ = nullptr;
  the_ = nullptr;
}

Groups& Groups::none() {
  world();  // throws: nothing is running
  refuse("team", "the program has not begun, or has ended");
}

std::uint64_t Groups::take_number() noexcept {
  const auto locked = lock();
  return number_of(my_proc(), made_++);
}

SharedOwner<Group> Groups::make(Standing number, std::vector<std::uint32_t> procs) {
  std::vector<BoardName> boards(procs.size(), Boards::standing(number));
  const std::uint64_t its = number_of(procs.front(), number);
  return SharedOwner<Group>(new Group(its, std::move(procs), std::move(boards)));
}

SharedOwner<Group> Groups::of_all(Standing number) {
  std::vector<std::uint32_t> all(procs());
  std::iota(all.begin(), all.end(), 0u);
  return make(number, std::move(all));
}

const SharedOwner<Group>& Groups::everybody() {
  const auto locked = lock();
  if (everybody_ == nullptr) everybody_ = of_all(kEverybody);
  return everybody_;
}

const SharedOwner<Group>& Groups::job() {
  const auto locked = lock();
  if (job_ == nullptr) {
    job_ = of_all(kJob);
    job_->is_job = true;
  }
  return job_;
}

const SharedOwner<Group>& Groups::node() {
  const auto locked = lock();
  if (node_ == nullptr) {
    std::vector<std::uint32_t> near;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (!is_far(proc)) near.push_back(proc);
    }
    node_ = make(kNode, std::move(near));
  }
  return node_;
}

void Groups::check_may_call(Call call) const {
  check_may_wait(call);
  if (this_context->number != 0 || !ending_) return;
  refuse(call, "called by the operation of a collective call, which may not start or make another");
}

void Groups::end_started(Group& group, Call call) {
  const auto ended = [&] {
    const auto locked = lock();
    return group.queue.empty();
  };
  const bool is_first = this_context->number == 0;
  if (ended() && !(is_first && orphan_)) [[likely]]
    return;
  poll_until(ended, call);
  if (is_first && orphan_) std::rethrow_exception(std::exchange(orphan_, nullptr));
}

void Groups::start(const SharedOwner<StartedGroupCall>& call) {
  check_first_thread(call->call(), "collective calls that are started");
  Group& group = call->group();
  {
    const auto locked = lock();
    group.queue.push_back(call);
    if (group.queue.size() > 1) return;
  }
  if (busy_.empty()) context().bundle.add(*this);
  busy_.push_back(&group);
  Groups::poll();
  group.flush();
}

void Groups::notify(const SharedOwner<StartedGroupCall>& call) {
  if (call != nullptr) start(call);
  is_notified_ = true;
  notified_ = call;
}

SharedOwner<StartedGroupCall> Groups::end_notified() noexcept {
  is_notified_ = false;
  return std::exchange(notified_, SharedOwner<StartedGroupCall>());
}

void Groups::wait_for(StartedGroupCall& call, Call on_behalf) {
  check_may_call(on_behalf);
  poll_until([&call] { return call.done(); }, on_behalf);
  call.group().flush();
}

void Groups::finish(Call call) {
  poll_until([this] { return busy_.empty(); }, call);
  if (orphan_) std::rethrow_exception(std::exchange(orphan_, nullptr));
}

void Groups::keep(const std::exception_ptr& orphan) noexcept {
  if (!orphan_) orphan_ = orphan;
}

template <class Done>
void Groups::poll_until(Done done, Call on_behalf) {
  wait_with_siblings(done, [&] {
    return am::Reason{.call = on_behalf, .needs = "the members of a team", .needs_all = true};
  });
}

bool Groups::can_read(std::uint32_t proc, const am::Neighbour& process) {
  const auto [at, is_new] = readable_.try_emplace(proc, false);
  if (is_new) at->second = world().router().options().cross_memory && process.is_readable();
  return at->second;
}

bool Groups::kernel_reads() const noexcept {
  return world().router().options().cross_memory &&
         std::ranges::all_of(readable_, [](const auto& one) { return one.second; });
}

// Lets the calls of `group` go on, and says how many have ended.
int Groups::go_on(Group& group) {
  int count = 0;
  // The last one may be all that keeps the group, so it is kept until the queue has been looked at.
  SharedOwner<StartedGroupCall> first;
  while (!group.queue.empty()) {
    first = group.queue.front();
    if (!first->advance()) return count;
    const auto locked = lock();
    group.queue.pop_front();
    ++count;
  }
  std::erase(busy_, &group);
  return count;
}

int Groups::poll() {
  if (ending_) return 0;
  seen_ = mail_.arrivals();
  ending_ = true;
  int count = 0;
  for (std::size_t i = busy_.size(); i > 0; --i) count += go_on(*busy_[i - 1]);
  ending_ = false;
  if (busy_.empty()) context().bundle.remove(*this);
  return count;
}

bool Groups::has_work() noexcept {
  if (ending_ || busy_.empty()) return false;
  return mail_.arrivals() != seen_ || std::ranges::any_of(busy_, [](Group* group) {
           return !group->queue.empty() && group->queue.front()->has_news();
         });
}

}  // namespace splitc::detail
