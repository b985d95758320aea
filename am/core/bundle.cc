#include "am/core/bundle.h"

#include <algorithm>
#include <memory>

#include "am/core/endpoint.h"
#include "am/core/far/messages.h"
#include "am/core/poller.h"
#include "am/core/process.h"
#include "am/core/traced.h"
#include "am/route/event_descriptor.h"
#include "am/route/router.h"
#include "am/types/clock.h"
#include "am/types/forked.h"
#include "am/types/shared_words.h"

namespace am {
namespace {

constexpr std::int64_t kVerifyNs = 3'000'000'000;  // of waiting, before the network is asked

Backoff::Far far_waits(const Router& router) {
  if (!router.far_peers()) return Backoff::Far::kNothing;
  return router.port()->link().can().wait_fd < 0 ? Backoff::Far::kPolled : Backoff::Far::kWakes;
}

}  // namespace

Bundle::Bundle(Process& process, Access access)
    : process_(process),
      router_(process.router()),
      far_(process.far_messages()),
      backoff_(router_.options().wait, router_.options().oversubscribed, far_waits(router_)),
      monitor_(access == Access::kParallel ? std::make_unique<Monitor>() : nullptr),
      maker_(this_thread()) {
  if (monitor_) {
    begin_parallel();
  } else {
    change_owner(maker_);
    if (active_trace() != nullptr) keep(std::make_unique<TracedPolls>());
  }
  process_.add(*this);
}

Bundle::~Bundle() {
  if (is_forked()) {
    static_cast<void>(event_.release());
    return;
  }
  disarm();
  const bool inside = monitor_ ? thread().bundle == this : inside_ != Inside::kNothing;
  if (inside || waiting_ != 0) {
    router_.fatal(
        "~Bundle: a bundle may not end while it polls or waits; let the handler return, and end it "
        "after poll()");
  }
  if (far_ != nullptr) far_->leave(*this);
  if (monitor_ ? lent_ : !own_activity_) process_.give_back_activity();
  process_.remove(*this);
}

bool Bundle::busy() const noexcept {
  const Lock lock(*this);
  const bool polls = !monitor_ && inside_ != Inside::kNothing && inside_ != Inside::kArmed;
  return polls || waiting_ != 0;
}

Bundle::Waiting::Waiting(Bundle& bundle) noexcept : bundle_(bundle) {
  const Lock lock(bundle_);
  ++bundle_.waiting_;
}

Bundle::Waiting::~Waiting() {
  const Lock lock(bundle_);
  --bundle_.waiting_;
}

void Bundle::require_sequential(const char* what) const {
  if (!monitor_) return;
  refuse(what, "a parallel bundle has none of these; make them in a sequential bundle");
}

std::uint64_t Bundle::messages() const noexcept {
  const Lock lock(*this);
  std::uint64_t sum = 0;
  for (const Endpoint* const endpoint : endpoints_) sum += endpoint->parts().stats.messages();
  return sum;
}

void Bundle::refuse(Call call, const std::string& what) const { router_.refuse(call, what); }

// Of its calls, those that are most used begin with whose it is, and where a request goes.
void Bundle::spoil() noexcept {
  owner_.store(nullptr, std::memory_order_relaxed);
  for (Endpoint* const endpoint : endpoints_) endpoint->parts().outgoing.forbid_direct();
}

void Bundle::change_owner(const void* thread) {
  check_not_forked("Bundle");
  if (activity_ != nullptr && !own_activity_) process_.give_back_activity();
  own_activity_ = process_.lend_activity(thread) ? nullptr : std::make_unique<Activity>();
  activity_ = own_activity_ ? own_activity_.get() : &router_.activity();
  owner_.store(thread, std::memory_order_relaxed);
}

// (Inline: as a call it costs a poll with nothing to do 1 ns of 9.)
[[gnu::always_inline]] inline int Bundle::poll_all(bool spinning) {
  int count = 0;
  // By index: handlers may make endpoints, and end others than their own (then the one after it may
  // have to wait for the next poll).
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    Endpoint* const endpoint = endpoints_[i];
    EndpointParts& parts = endpoint->parts();
    if (parts.idle()) continue;
    active_ = endpoint;
    count += parts.poll<OneThread>();
  }
  if (far_ != nullptr) [[unlikely]]
    count += far_->poll<OneThread>(*this, spinning);
  if (!pollers_.empty()) count += poll_others();
  return count;
}

void Bundle::note_thrower() {
  const Activity::Running thrower = activity().running();
  if (thrower.is_function()) process_.note_thrown(thrower);
  if (Trace* const trace = active_trace()) trace->poll_throws();
}

void Bundle::refuse_poll(Call call) const {
  refuse(call,
         "a handler may not poll or wait, in any bundle; let it return first, and wait after "
         "poll()");
}

int Bundle::poll(bool spinning) {
  Thread& self = thread();
  if (self.handles || inside_ != Inside::kNothing) [[unlikely]]
    return poll_unusual(spinning);
  if (owner_.load(std::memory_order_relaxed) != &self) [[unlikely]]
    change_owner(&self);
  const Finally leave([this, &self] {
    self.handles = false;
    if (active_ != nullptr || inside_ == Inside::kPoller) {
      active_ = nullptr;
      activity_->leave_handler();
    }
    inside_ = Inside::kNothing;
    activity_->count_poll();
  });
  self.handles = true;
  inside_ = Inside::kHandler;
  try {
    return poll_all(spinning);
  } catch (...) {
    note_thrower();
    throw;
  }
}

void Bundle::wait_until_released(const bool& released, const Reason& reason) {
  try {
    wait_until([&] { return is_released(released); }, Wake::kRung, [&] { return reason; });
  } catch (...) {
    far_->port().bring_on_until(released);
    throw;
  }
}

int Bundle::poll_siblings() {
  if (!process_.several_bundles()) return 0;
  int count = 0;
  process_.for_bundles(this_thread(), [&](Bundle& sibling) {
    if (&sibling != this) count += sibling.poll();
  });
  return count;
}

bool Bundle::siblings_late() noexcept {
  if (far_ == nullptr) return false;
  if (!process_.several_bundles()) return is_late();
  bool late = false;
  process_.for_bundles(this_thread(), [&](Bundle& sibling) { late = late || sibling.is_late(); });
  return late;
}

bool Bundle::is_late() noexcept {
  const Lock lock(*this);
  const bool late = monitor_ ? far_->has_late<AnyThread>(*this) : far_->has_late<OneThread>(*this);
  return late || pollers_have_work_locked();
}

int Bundle::poll_others() {
  inside_ = Inside::kPoller;
  active_ = nullptr;
  activity_->enter_callbacks();
  int count = 0;
  for (std::size_t i = 0; i < pollers_.size(); ++i) count += pollers_[i]->poll();
  return count;
}

void Bundle::add(Poller& poller) {
  const Lock lock(*this);
  pollers_.push_back(&poller);
}

void Bundle::keep(Owned<Poller> poller) {
  const Lock lock(*this);
  kept_.push_back(std::move(poller));
  pollers_.push_back(kept_.back().get());
}

void Bundle::remove(Poller& poller) noexcept {
  const Lock lock(*this);
  const Thread& self = thread();
  if (monitor_ && (self.bundle != this || self.inside != Inside::kPoller)) {
    monitor_->wait_until([this] { return !in_pollers_; });
  }
  std::erase(pollers_, &poller);
}

bool Bundle::has_message() noexcept {
  const Lock lock(*this);
  return has_message_locked();
}

bool Bundle::wait(Events events, std::int64_t timeout_ns, Here where) {
  const Call call("Bundle::wait", where);
  check_not_forked(call);
  if (handling()) refuse(call, "a handler may not wait; let it return first");
  if (events == Events::kNone) {
    refuse(call, "the event mask is empty, so this would never return; ask for Events::kNotEmpty");
  }
  take_over();
  // (2^62 ns are 146 years.)
  const std::int64_t deadline = now_ns() + std::min(timeout_ns, std::int64_t{1} << 62);
  if (monitor_) begin_activity();
  ShownWait shown(activity());
  const auto reason = [&] { return Reason{.call = call}; };
  ObservedWait observed(reason);
  shmem::SleepLimit limit;
  for (;;) {
    if (has_message()) return true;
    observed.yields();
    const std::int64_t left = timeout_ns < 0 ? limit.kLongestNs : deadline - now_ns();
    if (left <= 0) return false;
    show(shown, reason());
    sleep_unless_message(limit, left);
  }
}

void Bundle::show(ShownWait& wait, const Reason& reason) {
  const bool first = wait.show(reason);
  if (reason.collective != 0 || reason.needs_all) router_.need_all(reason.call);
  const auto& watch = router_.options().watch;
  if (watch) watch();
  if (far_ == nullptr) return;
  const std::int64_t now = now_ns();
  if (first) {
    wait.verify_after_ns = kVerifyNs;
    wait.verify_at_ns = now + wait.verify_after_ns;
  } else if (now >= wait.verify_at_ns) {
    const Port::Lock network(far_->port());
    far_->port().link().verify();
    wait.verify_after_ns *= 2;  // who does not poll gets few of these questions
    wait.verify_at_ns = now + wait.verify_after_ns;
  }
}

void Bundle::adopt(Endpoint& endpoint, Here where) {
  const Call call("Bundle::adopt", where);
  Bundle& before = endpoint.bundle();
  if (&before == this) return;
  if (&before.process_ != &process_) {
    refuse(call, "the endpoint belongs to another job");
  }
  if (monitor_ || before.monitor_) return adopt_among_threads(endpoint, call);
  disarm();
  before.disarm();
  if (inside_ != Inside::kNothing || before.inside_ != Inside::kNothing) {
    refuse(call, "a handler may not move endpoints");
  }
  move_here(endpoint, before);
}

void Bundle::join(Endpoint& endpoint) {
  const Lock lock(*this);
  endpoints_.push_back(&endpoint);
}

void Bundle::leave(Endpoint& endpoint) {
  if (active_ == &endpoint || thread().active == &endpoint || endpoint.parts().threads.calls != 0) {
    router_.fatal(
        "~Endpoint: an endpoint may not end inside one of its own handlers, nor inside a call of "
        "it that waits; let the handler note it, and end the endpoint after poll()");
  }
  std::erase(endpoints_, &endpoint);
}

// --- Of a thread that sleeps outside the library, in an event loop of the program.

int Bundle::event_fd(Here where) {
  const Call call("Bundle::event_fd", where);
  check_not_forked(call);
  if (monitor_) {
    refuse(
        call,
        "a parallel bundle has none, as a poll of any thread would end the sleep of another; "
        "wait in it with wait() or wait_until(), or make a sequential bundle for the event loop");
  }
  if (event_ == nullptr) event_ = std::make_unique<EventDescriptor>(router_);
  return event_->fd();
}

// The order is that of every sleep (shmem/doorbell.h): what has made the descriptor readable is
// taken back, the sleep is announced, and then comes the look, which finds what was written before.
bool Bundle::arm(Here where) {
  if (handling()) refuse({"Bundle::arm", where}, "a handler may not wait; let it return first");
  event_fd(where);
  take_over();
  disarm();
  event_->clear();
  const Nap nap(*this);
  if (has_message() || !event_->arm(nap.ticket())) return false;
  inside_ = Inside::kArmed;
  signal_late_siblings();
  return true;
}

// The look may have read from the network what is for another bundle of this thread, which looked
// before and is armed.
void Bundle::signal_late_siblings() noexcept {
  if (far_ == nullptr || !process_.several_bundles()) return;
  process_.for_bundles(this_thread(), [&](Bundle& sibling) {
    const bool armed = &sibling != this && sibling.inside_ == Inside::kArmed;
    if (armed && sibling.is_late()) sibling.event_->signal();
  });
}

void Bundle::disarm() noexcept {
  if (inside_ != Inside::kArmed) return;
  inside_ = Inside::kNothing;
  event_->disarm();
}

int Bundle::poll_armed(bool spinning) {
  disarm();
  const int count = poll(spinning);
  if (count != 0) event_->found();
  return count;
}

}  // namespace am
