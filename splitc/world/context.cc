#include "splitc/world/context.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/far/remote_memory.h"
#include "am/core/poller.h"
#include "am/job/job.h"
#include "am/route/router.h"
#include "am/types/forked.h"
#include "am/types/of_thread.h"
#include "splitc/world/sync.h"
#include "splitc/world/world.h"

namespace splitc::detail {

// --- One of several threads

// Its endpoint sends to the world's endpoint of each process, and nobody sends to it but by a
// reply.
struct Context::Own {
  explicit Own(World& world) : bundle(world.job()), endpoint(bundle) {
    const am::Endpoint& everybody = world.service();
    endpoint.set_tag(everybody.tag());
    for (am::Rank rank = 0; rank < world.router().size(); ++rank) {
      endpoint.map(rank, everybody.translation_name(rank), everybody.translation_tag(rank));
    }
  }

  am::Bundle bundle;
  am::Endpoint endpoint;
};

// What other threads have left, in the order in which they came.
class Context::Posted final : public am::Poller {
 public:
  explicit Posted(am::Bundle& bundle) : bundle_(bundle) { bundle_.add(*this); }
  ~Posted() override { bundle_.remove(*this); }

  void add(am::Function<void()> function) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(function));
    // pairs with: has_work(), whose thread has said before that it is about to sleep
    any_.store(true, std::memory_order_release);
  }
  // What throws is not called again, and what is behind it stays.
  int poll() override {
    if (!has_work()) return 0;
    {
      const std::lock_guard lock(mutex_);
      for (auto& one : std::exchange(all_, {})) taken_.push_back(std::move(one));
      any_.store(false, std::memory_order_relaxed);
    }
    int count = 0;
    while (next_ < taken_.size()) {
      ++count;
      taken_[next_++]();
    }
    taken_.clear();
    next_ = 0;
    return count;
  }
  bool has_work() noexcept override {
    return next_ < taken_.size() || any_.load(std::memory_order_acquire);  // pairs with: add()
  }

 private:
  am::Bundle& bundle_;
  std::vector<am::Function<void()>> taken_;  // by its thread
  std::size_t next_ = 0;
  std::atomic<bool> any_{false};
  std::mutex mutex_;  // guards the rest
  std::vector<am::Function<void()>> all_;
};

Context::Context(am::Bundle& its_bundle, am::Endpoint& its_endpoint,
                 am::Owned<am::RemoteMemory> its_remote)
    : number(0),
      bundle(its_bundle),
      endpoint(its_endpoint),
      tickets(0),
      remote(std::move(its_remote)) {}

Context::Context(World& world, std::uint32_t its_number)
    : own_(new Own(world)),
      number(its_number),
      bundle(own_->bundle),
      endpoint(own_->endpoint),
      tickets(its_number << kTicketBits),
      remote(world.router().port() == nullptr ? nullptr
                                              : new am::RemoteMemory(bundle, &finish_ticket)),
      posted_(new Posted(bundle)) {}

Context::~Context() { detach(); }

void Context::use() noexcept {
  this_context = this;
  detail::outstanding = &outstanding;
  my_tasks = &tasks;
}

void Context::attach() noexcept {
  attached_ = {&this_context, &detail::outstanding, &my_tasks, &Visit::visits};
  use();
}

void Context::detach() noexcept {
  if (attached_.context == nullptr) return;
  *attached_.context = nullptr;
  *attached_.outstanding = &none_outstanding;
  *attached_.tasks = &no_tasks;
  attached_ = {};
}

void Context::complete(Call call) {
  if (tasks.unfinished != 0) {
    refuse(call, std::to_string(tasks.unfinished) +
                     " tasks of a thread have not ended; wait for them in the thread that has "
                     "started them");
  }
  bundle.poll();  // belongs to the calling thread from now on
  finish_outstanding();
  endpoint.flush(call.where);
}

void finish_ticket(std::uint32_t ticket) { this_context->tickets.give_back(ticket); }

void Context::post(am::Function<void()> function) {
  if (posted_ == nullptr) posted_ = am::Owned<Posted>(new Posted(bundle));  // of the only thread
  posted_->add(std::move(function));
  world().router().notify(my_proc());
}

void Visit::refuse(Call call) {
  if (place.bases == nullptr) refuse_without_world();
  detail::refuse(call,
                 "called by a thread that is still at work when the function given to run() has "
                 "returned; join threads, or let them leave the library, before it returns");
}

// --- All of them

Contexts::~Contexts() {
  const std::lock_guard lock(mutex_);
  all_.clear();
}

void Contexts::begin(am::Owned<Context> first) {
  Visit::open();
  first->attach();
  all_.push_back(std::move(first));
}

void Contexts::set_equip(void (*equip)(Context&)) {
  const std::lock_guard lock(mutex_);
  equip_ = equip;
  for (const auto& one : all_) equip_(*one);
}

void Contexts::join(Call call) {
  take_one(call);
  this_context->bundle.poll();  // which makes it this thread's
}

void Contexts::take_one(Call call) {
  std::unique_lock lock(mutex_);
  if (Visit::is_closed()) Visit::refuse(call);  // the program has ended before the lock was had
  if (threads_ == 1) {
    refuse(call,
           "called by another thread than the one that called run(); only that one may wait, poll, "
           "allocate, reach other nodes and make collective calls, unless run() is told how many "
           "threads may: run(argc, argv, {.threads = n}, program)");
  }
  if (free_.empty()) {
    // One may be about to end: OpenMP does not wait for the threads that it has no use for.
    constexpr std::chrono::seconds kPatience(2);
    const bool may_come = all_.size() == threads_;
    if (may_come && !freed_.wait_for(lock, kPatience, [this] { return !free_.empty(); })) {
      refuse(call, "called by one thread more than the " + std::to_string(threads_) +
                       " that run() was told of; give it more, as run(argc, argv, {.threads = " +
                       std::to_string(threads_ + 1) + "}, program), or let one end before");
    }
  }
  if (free_.empty()) {
    all_.emplace_back(new Context(world_, static_cast<std::uint32_t>(all_.size())));
    free_.push_back(all_.back().get());
    if (equip_ != nullptr) equip_(*all_.back());
  }
  free_.back()->attach();
  free_.pop_back();
}

// False: what it has started is completed by the end of the program.
bool Contexts::begin_leaving() noexcept {
  if (finished_) {
    this_context->detach();
    return false;
  }
  ++leaving_;
  return true;
}

void Contexts::thread_ends() noexcept {
  Contexts* contexts = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (this_context == nullptr) return;
    contexts = &world().contexts();  // stays while one leaves
    if (!contexts->begin_leaving()) return;
  }
  Context& mine = *this_context;
  try {
    mine.complete("the end of a thread");
  } catch (const std::exception& error) {
    end_by(error);
  }
  const std::lock_guard lock(mutex_);
  mine.bundle.give_up();
  mine.detach();
  contexts->free_.push_back(&mine);
  --contexts->leaving_;
  contexts->freed_.notify_all();
}

// Whether another thread polls or waits just now.
bool Contexts::any_inside() const {
  return world_.service_bundle().busy() || std::ranges::any_of(all_, [](const auto& one) {
           if (one.get() == this_context) return false;
           const std::atomic<std::uint32_t>* const visits = one->attached_.visits;
           // pairs with: ~Visit(), so that what a call has done is seen; and its constructor
           if (visits != nullptr && visits->load(std::memory_order_seq_cst) != 0) return true;
           return one->bundle.busy();
         });
}

// What other threads call from now on is refused. One that waits would be left without what it
// waits for; a poll that has begun comes to its end.
void Contexts::leave_others_outside(Call call) {
  constexpr std::chrono::seconds kPatience(2);
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  bool inside = any_inside();
  if (!inside) {
    Visit::close();
    while ((inside = any_inside()) && std::chrono::steady_clock::now() < give_up) sched_yield();
  }
  if (inside) {
    refuse(call,
           "another thread of this process is still in a call of the library when the function "
           "given to run() returns; join threads, or let them leave the library, before it "
           "returns");
  }
  for (const auto& one : all_) {
    if (one.get() != this_context) one->detach();
  }
}

// Meanwhile this thread is each of the others in turn.
void Contexts::finish(Call call) {
  if (threads_ == 1) return;
  struct Mine {
    ~Mine() { context.use(); }
    Context& context;
  } const mine{*this_context};
  {
    std::unique_lock lock(mutex_);
    finished_ = true;
    freed_.wait(lock, [this] { return leaving_ == 0; });
    leave_others_outside(call);
  }
  for (const auto& one : all_) {
    if (one.get() == &mine.context) continue;
    one->use();
    one->complete(call);
  }
}

Context& Contexts::at(std::uint32_t number, Call call) {
  const std::lock_guard lock(mutex_);
  if (number < all_.size()) return *all_[number];
  refuse(call, "there is no thread " + std::to_string(number) +
                   " of this process: " + std::to_string(all_.size()) +
                   " have called the library so far, 0 to " + std::to_string(all_.size() - 1));
}

void join_thread(Call call) {
  if (am::is_forked()) refuse(call, am::fork_sentence());
  const Visit visit(call);
  world().contexts().join(call);  // throws, too, if nothing is running
  // Also of a thread that ends, in the destructor of a thread-local object.
  am::at_thread_end([](void*) { Contexts::thread_ends(); });
}

void Maker::refuse_other(Call call, const char* what) const {
  if (am::is_forked()) refuse(call, am::fork_sentence());
  refuse(call, std::string(what) + " is for the thread that has made it, which is number " +
                   std::to_string(context_->number) + " of this process; call it there");
}

void check_first_thread(Call call, const char* what) {
  check_thread(call);
  if (this_context->number == 0) return;
  refuse(call, std::string("called by another thread than the one that called run(); ") + what +
                   " are for that one");
}

}  // namespace splitc::detail

namespace splitc {

std::uint32_t my_thread() { return detail::context().number; }

void run_in_thread(std::uint32_t thread, am::Function<void()> function, am::Here where) {
  world().contexts().at(thread, {"run_in_thread", where}).post(std::move(function));
}

}  // namespace splitc
