#include "am/core/bundle.h"

#include <algorithm>

#include "am/core/endpoint.h"
#include "am/core/far_messages.h"
#include "am/core/poller.h"
#include "am/core/process.h"
#include "am/route/router.h"
#include "am/types/clock.h"

namespace am {
namespace {

constexpr std::int64_t kVerifyNs = 3'000'000'000;  // of waiting, before the network is asked

Backoff::Far far_waits(const Router& router) {
  if (!router.far_peers()) return Backoff::Far::kNothing;
  return router.port()->link().wait_fd() < 0 ? Backoff::Far::kPolled : Backoff::Far::kWakes;
}

}  // namespace

Bundle::Bundle(Process& process)
    : process_(process),
      router_(process.router()),
      far_(process.far_messages()),
      backoff_(router_.options().wait, router_.options().oversubscribed, far_waits(router_)) {
  change_owner(this_thread());
  process_.add(*this);
}

Bundle::~Bundle() {
  if (polling() || waiting_ != 0) {
    router_.fatal(
        "~Bundle: a bundle may not end while it polls or waits; let the handler return, and end it "
        "after poll()");
  }
  if (!own_activity_) process_.give_back_activity();
  process_.remove(*this);
}

void Bundle::refuse(const std::string& call, const std::string& what) const {
  throw Error("rank " + std::to_string(router_.rank()) + ": " + call + ": " + what);
}

void Bundle::change_owner(const void* thread) {
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
    if (endpoint->idle()) continue;
    active_ = endpoint;
    count += endpoint->poll();
  }
  if (far_ != nullptr) [[unlikely]]
    count += spinning ? far_->glance(*this) : far_->poll(*this);
  if (!pollers_.empty()) count += poll_others();
  return count;
}

void Bundle::refuse_poll() const {
  refuse("Bundle::poll",
         "a handler may not poll or wait, in any bundle; let it return first, and wait after "
         "poll()");
}

int Bundle::poll(bool spinning) {
  Thread& self = thread();
  if (self.handles || polling()) [[unlikely]]
    refuse_poll();
  if (owner_.load(std::memory_order_relaxed) != &self) [[unlikely]]
    change_owner(&self);
  struct Leave {
    ~Leave() {
      self.handles = false;
      if (bundle.active_ != nullptr || bundle.inside_ == Inside::kPoller) {
        bundle.active_ = nullptr;
        bundle.activity_->leave_handler();
      }
      bundle.inside_ = Inside::kNothing;
      bundle.activity_->count_poll();
    }
    Bundle& bundle;
    Thread& self;
  } leave{*this, self};
  self.handles = true;
  inside_ = Inside::kHandler;
  try {
    return poll_all(spinning);
  } catch (...) {
    const Activity::Running thrower = activity_->running();
    if (thrower.is_function()) process_.note_thrown(thrower);
    throw;
  }
}

void Bundle::wait_until_released(const bool& released, const Reason& reason) {
  try {
    wait_until([&] { return released; }, Wake::kRung, [&] { return reason; });
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

bool Bundle::siblings_late() const noexcept {
  if (far_ == nullptr) return false;
  if (!process_.several_bundles()) return is_late();
  bool late = false;
  process_.for_bundles(this_thread(),
                       [&](const Bundle& sibling) { late = late || sibling.is_late(); });
  return late;
}

bool Bundle::is_late() const noexcept { return far_->has_late(*this) || others_have_work(); }

int Bundle::poll_others() {
  inside_ = Inside::kPoller;
  active_ = nullptr;
  activity_->enter_callbacks();
  int count = 0;
  for (std::size_t i = 0; i < pollers_.size(); ++i) count += pollers_[i]->poll();
  return count;
}

void Bundle::add(Poller& poller) { pollers_.push_back(&poller); }

void Bundle::keep(std::unique_ptr<Poller> poller) {
  kept_.push_back(std::move(poller));
  add(*kept_.back());
}

void Bundle::remove(Poller& poller) noexcept { std::erase(pollers_, &poller); }

bool Bundle::has_message() noexcept {
  if (far_ != nullptr && far_->fetch(*this)) return true;
  return others_have_work() ||
         std::any_of(endpoints_.begin(), endpoints_.end(),
                     [](Endpoint* endpoint) { return endpoint->has_message(); });
}

bool Bundle::others_have_work() const noexcept {
  return std::any_of(pollers_.begin(), pollers_.end(),
                     [](Poller* poller) { return poller->has_work(); });
}

bool Bundle::wait(Events events, std::int64_t timeout_ns, SourceLocation where) {
  if (handling()) refuse("Bundle::wait", "a handler may not wait; let it return first");
  if (events == Events::kNone) {
    refuse("Bundle::wait",
           "the event mask is empty, so this would never return; ask for "
           "Events::kNotEmpty");
  }
  // (2^62 ns are 146 years.)
  const std::int64_t deadline = now_ns() + std::min(timeout_ns, std::int64_t{1} << 62);
  ShownWait shown(*activity_);
  shmem::SleepLimit limit;
  for (;;) {
    if (has_message()) return true;
    const std::int64_t left = timeout_ns < 0 ? limit.kLongestNs : deadline - now_ns();
    if (left <= 0) return false;
    show(shown, {.call = "Bundle::wait", .where = where});
    Nap nap(*this);
    if (!has_message()) nap.sleep(limit, left);
  }
}

void Bundle::show(ShownWait& wait, const Reason& reason) {
  const bool first = wait.show(reason);
  const auto& watch = router_.options().watch;
  if (watch) watch();
  if (far_ == nullptr) return;
  const std::int64_t now = now_ns();
  if (first) {
    verify_after_ns_ = kVerifyNs;
    verify_at_ns_ = now + verify_after_ns_;
  } else if (now >= verify_at_ns_) {
    far_->port().link().verify();
    verify_after_ns_ *= 2;  // who does not poll gets few of these questions
    verify_at_ns_ = now + verify_after_ns_;
  }
}

void Bundle::adopt(Endpoint& endpoint) {
  if (endpoint.bundle_ == this) return;
  if (&endpoint.bundle_->process_ != &process_) {
    refuse("Bundle::adopt", "the endpoint belongs to another job");
  }
  if (polling() || endpoint.bundle_->polling()) {
    refuse("Bundle::adopt", "a handler may not move endpoints");
  }
  const Bundle& before = *endpoint.bundle_;
  endpoint.bundle_->leave(endpoint);
  endpoints_.push_back(&endpoint);
  endpoint.bundle_ = this;
  if (far_ != nullptr) far_->left(before);
}

void Bundle::leave(Endpoint& endpoint) {
  if (active_ == &endpoint || endpoint.calls_ != 0) {
    router_.fatal(
        "~Endpoint: an endpoint may not end inside one of its own handlers, nor inside a call of "
        "it that waits; let the handler note it, and end the endpoint after poll()");
  }
  std::erase(endpoints_, &endpoint);
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

}  // namespace am
