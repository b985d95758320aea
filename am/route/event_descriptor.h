#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "shmem/descriptor.h"
#include "shmem/doorbell.h"

namespace am {

class EventDescriptor;
class Router;

// The socket that a ring of the doorbell makes readable, for all sleepers of this process. A ring
// is meant for each of them, but what one has taken from the socket the others do not see, so
// sleepers on an EventDescriptor are signalled first.
//
// Thread rule: any thread.
class Rings {
 public:
  // The bell outlives it. Throws Error if there can be no socket.
  explicit Rings(shmem::Doorbell& bell) : socket_(bell) {}

  int fd() const noexcept { return socket_.fd(); }
  // Takes back all rings so far. Not while a thread may be asleep on fd() itself.
  void take_back() noexcept;

  // From now on that one is signalled when rings are taken back; or not any more.
  void add(EventDescriptor& armed);
  void remove(EventDescriptor& armed) noexcept;

 private:
  shmem::DoorbellSocket socket_;
  std::mutex mutex_;
  std::vector<EventDescriptor*> armed_;
};

// The descriptor on which a program's own event loop sleeps until one bundle has something to do
// (Bundle::event_fd()): an epoll set of what Port::sleep() sleeps on, which is the socket of the
// doorbell and the descriptor of the network, of a timer for the longest sleep, and of a signal.
//
// Before the program sleeps the bundle says clear(), announces its sleep at the doorbell
// (shmem::Doorbell::about_to_sleep() and the heavy fence), checks for work, and calls arm(). What
// comes after the check finds the announcement, and makes the set readable. After the sleep it
// calls disarm(). (As libfabric's fi_trywait() and UCX's ucp_worker_arm() have it;
// tests/shmem/model checks this in all states of two such sleepers and a neighbour.)
//
// Thread rule: the bundle's; signal() any thread.
class EventDescriptor {
 public:
  // `router` outlives it. Throws Error if the process may have no more descriptors.
  explicit EventDescriptor(Router& router);
  ~EventDescriptor();

  int fd() const noexcept { return set_.fd(); }

  // Makes it unreadable for what has come so far, for which the caller checks next.
  void clear() noexcept;
  // Makes it readable when something comes that the check since the doorbell's ticket has not
  // found. False: there is something already, so check again.
  bool arm(std::uint32_t ticket);
  void disarm() noexcept;
  // Makes it readable until clear().
  void signal() noexcept;
  // A poll has found something: where a timer stands for the network, the next poll comes soon.
  void found() noexcept { blind_ns_ = kShortestBlindNs; }

 private:
  // How long to sleep where the network has no descriptor. Each sleep in which nothing comes is
  // twice as long as the last.
  static constexpr std::int64_t kShortestBlindNs = 100'000;
  static constexpr std::int64_t kLongestBlindNs = 1'000'000;

  void watch(int fd, std::uint32_t what);
  void take_back_rings() noexcept;
  bool may_sleep(std::uint32_t ticket, std::int64_t& limit_ns) noexcept;
  void set_timer(std::int64_t limit_ns) noexcept;

  Router& router_;
  Rings& rings_;
  shmem::OwnFd set_;
  shmem::OwnFd signal_;
  shmem::OwnFd timer_;
  shmem::SleepLimit limit_;
  std::int64_t blind_ns_ = kShortestBlindNs;
  bool blind_ = false;  // the network has no descriptor
  bool armed_ = false;
};

}  // namespace am
