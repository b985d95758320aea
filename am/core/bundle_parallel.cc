// Parallel bundles: what several threads do at the same time in one.

#include <sched.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/far/messages.h"
#include "am/core/poller.h"
#include "am/core/process.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "am/types/forked.h"
#include "am/types/of_thread.h"

namespace am {

// Whatever comes from other nodes is put aside from now on, so that its memory stays while its
// handler runs and other threads poll.
void Bundle::begin_parallel() {
  check_not_forked("Bundle");
  if (far_ != nullptr && handling()) {
    refuse("Bundle",
           "a handler may not make a parallel bundle in a job that spans nodes, as it would wait "
           "for the call that runs it; make it after poll()");
  }
  if (far_ != nullptr) far_->port().end_solitude();
  inside_ = Inside::kThreads;
  lent_ = process_.lend_activity(maker_);
}

// The process's activity shows what one of its threads does, in all its bundles.
void Bundle::begin_activity() const {
  Thread& self = thread();
  self.activity = lent_ && maker_ == &self ? &router_.activity() : &OfThread<Activity>::get();
}

bool Bundle::thread_in_handler() const noexcept {
  const Thread& self = thread();
  return self.bundle == this && self.inside == Inside::kHandler;
}

int Bundle::poll_unusual(bool spinning) {
  check_not_forked("Bundle::poll");
  if (inside_ == Inside::kArmed && !handling()) return poll_armed(spinning);
  if (!monitor_ || handling()) refuse_poll("Bundle::poll");
  Thread& self = thread();
  begin_activity();
  self.handles = true;
  self.inside = Inside::kHandler;
  self.bundle = this;
  monitor_->lock();
  int count = 1;  // an exception is one of a handler
  const Finally leave([&] { leave_poll(self, count != 0); });
  try {
    int handled = poll_endpoints();
    if (far_ != nullptr) handled += far_->poll<AnyThread>(*this, spinning);
    return count = handled + poll_pollers();
  } catch (...) {
    note_thrower();
    throw;
  }
}

// What was handled may be what another thread waits for. It has registered before it has looked,
// and looks with the lock held, or after: so it has seen what was handled, or is seen here. The
// same goes for who has left out a message because this thread was at the one before.
void Bundle::leave_poll(Thread& self, bool handled) noexcept {
  const bool left_out = handled && std::exchange(left_out_, false);
  const bool rings = left_out || (handled && sleepers_ != 0);
  shmem::Doorbell& bell = router_.self().header->bell;
  monitor_->unlock();
  if (rings) bell.ring();
  self.handles = false;
  self.inside = Inside::kNothing;
  self.bundle = nullptr;
  self.active = nullptr;
  self.activity->leave_handler();
  self.activity->count_poll();
}

// By index: endpoints come and go, here and in other threads, while a handler runs. One that has
// taken the place of another waits for the next poll.
int Bundle::poll_endpoints() {
  int count = 0;
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    Endpoint* const endpoint = endpoints_[i];
    EndpointParts& parts = endpoint->parts();
    if (parts.held() || parts.idle()) continue;
    thread().active = endpoint;
    ++parts.threads.visits;
    const Finally visited([&parts] { --parts.threads.visits; });
    count += parts.poll<AnyThread>();
  }
  return count;
}

int Bundle::poll_pollers() {
  if (pollers_.empty() || in_pollers_) return 0;
  Thread& self = thread();
  self.active = nullptr;
  self.inside = Inside::kPoller;
  self.activity->enter_callbacks();
  in_pollers_ = true;
  const Finally leave([this] { in_pollers_ = false; });
  int count = 0;
  for (std::size_t i = 0; i < pollers_.size(); ++i) {
    Poller* const poller = pollers_[i];
    const Unlock unlocked(*this);
    count += poller->poll();
  }
  return count;
}

// (The network first: meanwhile others come in, and may leave a message of this node unread.)
bool Bundle::has_message_locked() noexcept {
  if (far_ != nullptr) {
    if (monitor_ ? far_->fetch<AnyThread>(*this) : far_->fetch<OneThread>(*this)) return true;
  }
  for (Endpoint* const endpoint : endpoints_) {
    if (endpoint->parts().has_message()) return true;
  }
  return pollers_have_work_locked();
}

bool Bundle::pollers_have_work_locked() noexcept {
  if (pollers_.empty()) return false;
  if (in_pollers_) return true;  // perhaps: who asks looks again soon
  in_pollers_ = true;
  bool found = false;
  for (std::size_t i = 0; i < pollers_.size() && !found; ++i) {
    Poller* const poller = pollers_[i];
    const Unlock unlocked(*this);
    found = poller->has_work();
  }
  in_pollers_ = false;
  return found;
}

Bundle::Nap::Nap(Bundle& bundle) noexcept
    : router_(bundle.router_), ticket_(router_.self().header->bell.about_to_sleep()) {
  router_.fence().heavy();
}

void Bundle::Nap::sleep(shmem::SleepLimit& limit, std::int64_t at_most_ns) noexcept {
  const std::int64_t timeout_ns = std::min(limit.next(ticket_), at_most_ns);
  if (Port* const port = router_.port()) {
    port->sleep(ticket_, timeout_ns);
  } else {
    router_.self().header->bell.sleep(ticket_, timeout_ns);
  }
}

// Registers after the Nap has begun, so that who sees it registered rings a bell that is heard.
class Bundle::Sleeper {
 public:
  explicit Sleeper(Bundle& bundle) noexcept : bundle_(bundle), nap_(bundle) {
    const Lock lock(bundle_);
    ++bundle_.sleepers_;
    found_ = bundle_.has_message_locked();
  }
  ~Sleeper() {
    const Lock lock(bundle_);
    --bundle_.sleepers_;
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Unless there is a message, whose thread may have been let in just now.
  void sleep(bool found, shmem::SleepLimit& limit, std::int64_t at_most_ns) noexcept {
    if (found || found_) {
      sched_yield();
    } else {
      nap_.sleep(limit, at_most_ns);
    }
  }

 private:
  Bundle& bundle_;
  Nap nap_;
  bool found_;
};

void Bundle::sleep_unless_message(shmem::SleepLimit& limit, std::int64_t at_most_ns) noexcept {
  if (monitor_) {
    Sleeper(*this).sleep(false, limit, at_most_ns);
  } else {
    Nap nap(*this);
    if (!has_message()) nap.sleep(limit, at_most_ns);
  }
}

void Bundle::wait_among_threads(bool siblings, FunctionRef<bool()> condition, Wake wake,
                                FunctionRef<Reason()> explain, WaitTime& time) {
  const Waiting waiting(*this);
  begin_activity();
  shmem::SleepLimit limit;
  const auto sleep = [&](ShownWait&) { return sleep_unless(condition, siblings, limit, wake); };
  if (siblings) {
    wait_loop<true>(condition, explain, activity(), time, sleep);
  } else {
    wait_loop<false>(condition, explain, activity(), time, sleep);
  }
}

bool Bundle::sleep_unless(FunctionRef<bool()> condition, bool siblings, shmem::SleepLimit& limit,
                          Wake wake) {
  Sleeper sleeper(*this);
  bool found = siblings && poll_siblings() != 0;
  found = found || (siblings && siblings_late());
  if (condition()) return true;
  sleeper.sleep(found, limit, wake == Wake::kMemory ? limit.kShortestNs : limit.kLongestNs);
  return false;
}

// Waits for the handlers of the endpoint with neither lock, so that they come to their end.
void Bundle::adopt_among_threads(Endpoint& endpoint, Call call) {
  if (handling()) refuse(call, "a handler may not move endpoints");
  EndpointParts& parts = endpoint.parts();
  const PauseGuard pause(parts);
  for (;; sched_yield()) {
    Bundle& from = endpoint.bundle();
    if (&from == this) return;
    Bundle& first = std::less<>()(this, &from) ? *this : from;
    Bundle& second = &first == this ? from : *this;
    const Lock one(first);
    const Lock other(second);
    if (&endpoint.bundle() != &from || parts.threads.visits != 0) continue;
    return move_here(endpoint, from);
  }
}

void Bundle::move_here(Endpoint& endpoint, Bundle& from) {
  EndpointParts& parts = endpoint.parts();
  if (parts.threads.calls != 0 && !(monitor_ && from.monitor_)) {
    router_.fatal("Bundle::adopt: a call of the endpoint is waiting in another thread");
  }
  std::erase(from.endpoints_, &endpoint);
  endpoints_.push_back(&endpoint);
  parts.bundle = this;
  parts.suit_bundle();
  if (far_ != nullptr) far_->moved(endpoint.parts(), from);
  // Calls that wait in the other bundle go on in this one.
  router_.self().header->bell.ring();
}

}  // namespace am
