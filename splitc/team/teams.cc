#include "splitc/team/teams.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/route/activity.h"
#include "am/types/source_location.h"
#include "splitc/team/started.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

std::uint64_t number_of(std::uint32_t proc, std::uint64_t made) noexcept {
  return std::uint64_t{proc} << 40 | made;
}

}  // namespace

// --- Calls that were started

bool StartedTeamCall::advance() {
  try {
    if (!exchange_) exchange_.emplace(*group_, name_, plan_);
    if (!exchange_->advance()) return false;
    exchange_->check();
    take(*exchange_);
  } catch (...) {
    thrown_ = std::current_exception();
  }
  exchange_.reset();
  end();
  if (Teams* const teams = Teams::existing()) teams->keep(orphan());
  return true;
}

void StartedTeamCall::give_up() noexcept {
  exchange_.reset();
  thrown_ =
      std::make_exception_ptr(Error(std::string(call().name) + ": the job has ended before it"));
  end();
}

void StartedTeamCall::wait(am::SourceLocation where) {
  const Call on_behalf(call().name, where);
  check_may_wait(on_behalf);
  if (!done()) Teams::of_world().wait_for(*this, on_behalf);
  rethrow();
}

void StartedTeamCall::drop() noexcept {
  dropped_ = true;
  Teams* const teams = Teams::existing();
  if (done() && teams != nullptr) teams->keep(orphan());
}

void start_team_call(const SharedOwner<StartedTeamCall>& call) {
  Teams& teams = Teams::of_world();
  teams.check_may_call(call->call());
  teams.start(call);
}

// --- Teams

Teams::Teams(am::Bundle& bundle, am::Endpoint& endpoint) : bundle_(bundle), mail_(endpoint) {
  the_ = this;
}

Teams::~Teams() {
  if (!busy_.empty()) bundle_.remove(*this);
  for (Group* const group : std::exchange(busy_, {})) {
    const auto calls = std::exchange(group->queue, {});
    for (const auto& call : calls) call->give_up();
  }
  everybody_ = nullptr;
  node_ = nullptr;
  the_ = nullptr;
}

Teams& Teams::none() {
  world();  // throws: nothing is running
  refuse("team", "the program has not begun, or has ended");
}

std::uint64_t Teams::next_number() const noexcept { return number_of(my_proc(), made_); }

const SharedOwner<Group>& Teams::everybody() {
  if (everybody_ == nullptr) {
    std::vector<std::uint32_t> all(procs());
    std::iota(all.begin(), all.end(), 0u);
    everybody_ = SharedOwner<Group>(new Group(number_of(0, 0), std::move(all)));
  }
  return everybody_;
}

const SharedOwner<Group>& Teams::node() {
  if (node_ == nullptr) {
    std::vector<std::uint32_t> near;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (!is_far(proc)) near.push_back(proc);
    }
    const std::uint64_t number = number_of(near.front(), 1);
    node_ = SharedOwner<Group>(new Group(number, std::move(near)));
  }
  return node_;
}

void Teams::check_may_call(Call call) const {
  check_may_wait(call);
  if (!ending_) return;
  refuse(call, "called by the operation of a collective call, which may not start or make another");
}

void Teams::before_call(Group& group, Call call) {
  check_may_call(call);
  if (group.queue.empty() && !orphan_) [[likely]]
    return;
  poll_until([&group] { return group.queue.empty(); }, call);
  if (orphan_) std::rethrow_exception(std::exchange(orphan_, nullptr));
}

void Teams::start(const SharedOwner<StartedTeamCall>& call) {
  Group& group = call->group();
  group.queue.push_back(call);
  if (group.queue.size() > 1) return;
  if (busy_.empty()) bundle_.add(*this);
  busy_.push_back(&group);
  Teams::poll();
}

void Teams::wait_for(StartedTeamCall& call, Call on_behalf) {
  check_may_call(on_behalf);
  poll_until([&call] { return call.done(); }, on_behalf);
}

void Teams::finish(Call call) {
  poll_until([this] { return busy_.empty(); }, call);
  if (orphan_) std::rethrow_exception(std::exchange(orphan_, nullptr));
}

void Teams::keep(const std::exception_ptr& orphan) noexcept {
  if (!orphan_) orphan_ = orphan;
}

template <class Done>
void Teams::poll_until(Done done, Call on_behalf) {
  world().bundle().wait_with_siblings(done, [&] {
    return am::Reason{.call = on_behalf.name,
                      .where = on_behalf.where,
                      .needs = "the members of a team",
                      .needs_all = true};
  });
}

// Lets the calls of `group` go on, and says how many have ended.
int Teams::go_on(Group& group) {
  int count = 0;
  // The last one may be all that keeps the team, so it is kept until the queue has been looked at.
  SharedOwner<StartedTeamCall> first;
  while (!group.queue.empty()) {
    first = group.queue.front();
    if (!first->advance()) return count;
    group.queue.pop_front();
    ++count;
  }
  std::erase(busy_, &group);
  return count;
}

int Teams::poll() {
  if (ending_) return 0;
  seen_ = mail_.arrivals();
  ending_ = true;
  int count = 0;
  for (std::size_t i = busy_.size(); i > 0; --i) count += go_on(*busy_[i - 1]);
  ending_ = false;
  if (busy_.empty()) bundle_.remove(*this);
  return count;
}

bool Teams::has_work() noexcept { return !busy_.empty() && mail_.arrivals() != seen_; }

}  // namespace splitc::detail
