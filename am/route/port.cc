#include "am/route/port.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "am/route/router.h"
#include "am/types/signals.h"

namespace am {
namespace {

// How long to sleep where no descriptor becomes readable when something arrives.
constexpr std::int64_t kBlindNapNs = 100'000;

// A time, or `limit` if that is shorter. A negative limit is none.
std::int64_t shortened(std::int64_t time, std::int64_t limit) {
  return limit < 0 ? time : std::min(time, limit);
}

}  // namespace

Port::Port(Router& router, std::unique_ptr<link::Link> link, const Options& options)
    : router_(router),
      link_(std::move(link)),
      rung_(router.self().header->bell),
      sinks_([this](Rank from, const link::PacketHeader& packet) { refuse(from, packet); }) {
  if (options.progress_thread) {
    progress_.emplace(*link_, [&router] { router.notify(router.rank()); });
  }
}

Port::~Port() = default;

bool Port::expects() const noexcept {
  return attention_ != 0 || expected_ != 0 || link_->busy() ||
         std::ranges::any_of(resumed_, [](const Resumed* one) { return !one->idle(); });
}

int Port::poll() {
  skipped_ = 0;
  resume();
  const int count = link_->poll(sinks_);
  if (count != 0) {
    attention_ = kAttention;
  } else if (attention_ > 0) {
    --attention_;
  }
  return count;
}

bool Port::fetch() {
  resume();
  const bool kept = link_->fetch(sinks_);
  resume();  // there may be room now, and nothing else that comes before the caller sleeps
  return kept;
}

void Port::resume() {
  for (Resumed* const one : resumed_) one->resume();
}

void Port::refuse(Rank from, const link::PacketHeader& packet) const {
  router_.fatal("poll: a message of rank " + std::to_string(from) + " (type " +
                std::to_string(static_cast<int>(packet.type)) + ", " +
                std::to_string(packet.bytes) +
                " bytes) is damaged; all programs of a job must be built from the same Splitphase");
}

void Port::sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept {
  const std::int64_t limit = shortened(timeout_ns, link_->patience_ns());
  if (link_->wait_fd() < 0) {
    router_.self().header->bell.sleep(ticket, std::min(limit, kBlindNapNs));
    return;
  }
  if (!link_->may_sleep()) return;
  pollfd watched[] = {{.fd = link_->wait_fd(), .events = POLLIN, .revents = 0},
                      {.fd = rung_.fd(), .events = POLLIN, .revents = 0}};
  const timespec time{.tv_sec = limit / 1'000'000'000, .tv_nsec = limit % 1'000'000'000};
  ppoll(watched, 2, &time, nullptr);
  if (watched[1].revents != 0) rung_.quiet();
  attention_ = 1;  // the next glance shall look
}

void Port::bring_on_until(const bool& done) noexcept {
  const auto bring_on = [this] {
    resume();
    link_->poll(sinks_);
    resume();
  };
  shmem::Doorbell& bell = router_.self().header->bell;
  while (!done) {
    const std::uint32_t ticket = bell.about_to_sleep();
    bring_on();
    if (!done) sleep(ticket, shmem::SleepLimit::kShortestNs);
  }
}

void Port::tend_until(const std::atomic<bool>& done) {
  shmem::SleepLimit limit;
  shmem::Doorbell& bell = router_.self().header->bell;
  for (;;) {
    const std::uint32_t ticket = bell.about_to_sleep();
    router_.fence().heavy();
    const bool kept = fetch();
    if (done.load(std::memory_order_acquire)) return;  // pairs with: the store in tend_while()
    // While a packet that poll() is to handle is first, nothing wakes for what is behind it.
    sleep(ticket, kept ? limit.kShortestNs : limit.next(ticket));
  }
}

void Port::tend_while(const std::function<void()>& blocking) {
  std::atomic<bool> done{false};
  std::thread tending;
  {
    const SignalsBlocked blocked;  // the thread inherits it
    tending = std::thread([&] {
      try {
        tend_until(done);
      } catch (const std::exception& error) {
        // Others may need what this process no longer serves, before they let `blocking` return.
        router_.fatal(error.what());
      }
    });
  }
  const auto stop = [&] {
    done.store(true, std::memory_order_release);  // pairs with: the load in tend_until()
    router_.notify(router_.rank());
    tending.join();
  };
  try {
    blocking();
  } catch (...) {
    stop();
    throw;
  }
  stop();
}

}  // namespace am
