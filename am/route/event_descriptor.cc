#include "am/route/event_descriptor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "am/link/link.h"
#include "am/route/port.h"
#include "am/route/router.h"

namespace am {
namespace {

// What has become readable.
enum Watched : std::uint32_t { kRung, kNetwork, kTimer, kSignal };

}  // namespace

void Rings::take_back() noexcept {
  const std::lock_guard lock(mutex_);
  for (EventDescriptor* const armed : armed_) armed->signal();
  socket_.quiet();
}

void Rings::add(EventDescriptor& armed) {
  const std::lock_guard lock(mutex_);
  armed_.push_back(&armed);
}

void Rings::remove(EventDescriptor& armed) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(armed_, &armed);
}

EventDescriptor::EventDescriptor(Router& router)
    : router_(router),
      rings_(router.rings()),
      set_(epoll_create1(EPOLL_CLOEXEC)),
      signal_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!set_ || !signal_ || !timer_) {
    router.refuse("Bundle::event_fd", std::string("no descriptor is left (") +
                                          std::strerror(errno) +
                                          "); raise the limit of open files (ulimit -n)");
  }
  watch(rings_.fd(), kRung);
  watch(timer_.fd(), kTimer);
  watch(signal_.fd(), kSignal);
  if (Port* const port = router.port()) {
    const int network = port->link().can().wait_fd;
    blind_ = network < 0;
    if (!blind_) watch(network, kNetwork);
  }
}

EventDescriptor::~EventDescriptor() { disarm(); }

void EventDescriptor::watch(int fd, std::uint32_t what) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.u32 = what;
  if (epoll_ctl(set_.fd(), EPOLL_CTL_ADD, fd, &wanted) == 0) return;
  router_.refuse("Bundle::event_fd",
                 std::string("the kernel takes a descriptor into no epoll set (") +
                     std::strerror(errno) + "); wait with Bundle::wait() or wait_until() instead");
}

void EventDescriptor::take_back_rings() noexcept {
  if (Port* const port = router_.port()) {
    port->take_back_rings();
  } else {
    rings_.take_back();
  }
}

// (The timer is set anew by arm(), and the network takes back its own.)
void EventDescriptor::clear() noexcept {
  epoll_event found[4];
  const int count = epoll_wait(set_.fd(), found, 4, 0);
  for (int i = 0; i < count; ++i) {
    if (found[i].data.u32 == kRung) take_back_rings();
    if (found[i].data.u32 != kSignal) continue;
    std::uint64_t signals = 0;
    [[maybe_unused]] const ssize_t bytes = read(signal_.fd(), &signals, sizeof signals);
  }
}

// Registers first: a ring that another thread takes from the socket before that has changed the
// doorbell's count, and so spoils the ticket.
bool EventDescriptor::arm(std::uint32_t ticket) {
  rings_.add(*this);
  armed_ = true;
  std::int64_t limit_ns = limit_.next(ticket);
  if (!may_sleep(ticket, limit_ns)) {
    rings_.remove(*this);
    armed_ = false;
    return false;
  }
  if (blind_) {
    limit_ns = std::min(limit_ns, blind_ns_);
    blind_ns_ = std::min(2 * blind_ns_, kLongestBlindNs);
  }
  set_timer(limit_ns);
  return true;
}

bool EventDescriptor::may_sleep(std::uint32_t ticket, std::int64_t& limit_ns) noexcept {
  if (Port* const port = router_.port()) return port->arm(ticket, limit_ns);
  return !router_.self().header->bell.rung_since(ticket);
}

// A limit of 0 would stop the timer.
void EventDescriptor::set_timer(std::int64_t limit_ns) noexcept {
  limit_ns = std::max<std::int64_t>(limit_ns, 1);
  itimerspec once{};
  once.it_value = {.tv_sec = limit_ns / 1'000'000'000, .tv_nsec = limit_ns % 1'000'000'000};
  timerfd_settime(timer_.fd(), 0, &once, nullptr);
}

void EventDescriptor::disarm() noexcept {
  if (!armed_) return;
  armed_ = false;
  rings_.remove(*this);
  if (Port* const port = router_.port()) port->disarm();
}

void EventDescriptor::signal() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = write(signal_.fd(), &one, sizeof one);
}

}  // namespace am
