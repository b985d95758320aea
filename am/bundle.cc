#include "am/bundle.h"

#include <algorithm>

#include "am/channels.h"
#include "am/clock.h"
#include "am/endpoint.h"
#include "am/poller.h"
#include "am/port.h"

namespace am {
namespace {

constexpr std::int64_t kMemoryLookNs = 1'000'000;  // between looks at memory that nobody rings for

Ladder::Far far_waits(const Router& router) {
  if (!router.far_peers()) return Ladder::Far::kNothing;
  return router.port()->link().wait_fd() < 0 ? Ladder::Far::kNotTold : Ladder::Far::kTold;
}

}  // namespace

Bundle::Bundle(Router& router)
    : router_(router),
      ladder_(router.options().wait, router.options().oversubscribed, far_waits(router)) {}

Bundle::~Bundle() {
  if (channels_) router_.set_channels(nullptr);
}

Channels& Bundle::channels() {
  if (channels_) return *channels_;
  if (router_.channels() != nullptr) {
    refuse("Bundle::channels", "another bundle of this process has channels; use that one");
  }
  channels_ = std::make_unique<Channels>(*this);
  router_.set_channels(channels_.get());
  return *channels_;
}

ChannelStats Bundle::channel_stats() const {
  return channels_ ? channels_->receivers.stats() : ChannelStats{};
}

void Bundle::refuse(const std::string& call, const std::string& what) const {
  throw Error("rank " + std::to_string(router_.rank()) + ": " + call + ": " + what);
}

int Bundle::poll(bool spinning) {
  if (handling()) refuse("Bundle::poll", "a handler may not poll; let it return first");
  struct Leave {
    ~Leave() { inside = Inside::kNothing; }
    Inside& inside;
  } leave{inside_};
  inside_ = Inside::kHandler;
  int count = 0;
  for (Endpoint* endpoint : endpoints_) count += endpoint->poll();
  if (Port* const port = router_.port()) [[unlikely]]
    count += spinning ? port->glance(*this) : port->poll(*this);
  if (channels_ || !pollers_.empty()) count += poll_others();
  return count;
}

int Bundle::poll_others() {
  inside_ = Inside::kPoller;
  int count = channels_ ? channels_->poll() : 0;
  for (std::size_t i = 0; i < pollers_.size(); ++i) count += pollers_[i]->poll();
  return count;
}

void Bundle::add(Poller& poller) {
  if (handling()) refuse("Bundle::add", "a handler may not add to what polls");
  pollers_.push_back(&poller);
}

void Bundle::remove(Poller& poller) noexcept { std::erase(pollers_, &poller); }

bool Bundle::has_message() noexcept {
  if (Port* const port = router_.port(); port != nullptr && port->fetch()) return true;
  if (channels_ && channels_->has_work()) return true;
  return std::any_of(endpoints_.begin(), endpoints_.end(),
                     [](Endpoint* endpoint) { return endpoint->has_message(); }) ||
         std::any_of(pollers_.begin(), pollers_.end(),
                     [](Poller* poller) { return poller->has_work(); });
}

bool Bundle::wait(Events events, std::int64_t timeout_ns) {
  if (handling()) refuse("Bundle::wait", "a handler may not wait; let it return first");
  if (events == Events::kNone) {
    refuse("Bundle::wait",
           "the event mask is empty, so this would never return; ask for "
           "Events::kNotEmpty");
  }
  const std::int64_t deadline = timeout_ns < 0 ? 0 : now_ns() + timeout_ns;
  for (;;) {
    if (has_message()) return true;
    std::int64_t left = shmem::Doorbell::kForever;
    if (timeout_ns >= 0 && (left = deadline - now_ns()) <= 0) return false;
    Nap nap(*this, Wake::kRung);
    if (!has_message()) nap.sleep(left);
  }
}

void Bundle::adopt(Endpoint& endpoint) {
  if (endpoint.bundle_ == this) return;
  if (&endpoint.bundle_->router_ != &router_) {
    refuse("Bundle::adopt", "the endpoint belongs to another job");
  }
  if (handling() || endpoint.bundle_->handling()) {
    refuse("Bundle::adopt", "a handler may not move endpoints");
  }
  endpoint.bundle_->leave(endpoint);
  endpoints_.push_back(&endpoint);
  endpoint.bundle_ = this;
}

void Bundle::leave(Endpoint& endpoint) { std::erase(endpoints_, &endpoint); }

Bundle::Nap::Nap(Bundle& bundle, Wake wake) noexcept
    : router_(bundle.router_), ticket_(router_.self().header->bell.about_to_sleep()), wake_(wake) {
  bundle.router_.fence().heavy();
}

void Bundle::Nap::sleep() noexcept {
  sleep(wake_ == Wake::kRung ? shmem::Doorbell::kForever : kMemoryLookNs);
}

void Bundle::Nap::sleep(std::int64_t timeout_ns) noexcept {
  if (Port* const port = router_.port()) {
    port->sleep(ticket_, timeout_ns);
  } else {
    router_.self().header->bell.sleep(ticket_, timeout_ns);
  }
}

}  // namespace am
