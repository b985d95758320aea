// Unreliable datagrams: sent and received, and perhaps lost, doubled, exchanged or damaged on their
// way.
//
//   rdma::Fabric fabric({.datagrams = true}, way);
//   rdma::DatagramEndpoint endpoint(fabric, {});
//   const fi_addr_t peer = endpoint.insert(address_of_peer);
//   endpoint.try_send(peer, bytes, descriptor, op);      // headroom() bytes before `bytes` are its
//   std::array<rdma::DatagramEvent, 16> events;
//   for (int i = 0, n = endpoint.poll(events); i < n; ++i) { ...; endpoint.renew(*events[i].op); }
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "rdma/buffers.h"
#include "rdma/endpoint.h"
#include "rdma/op.h"
#include "rdma/open_fabric.h"

namespace rdma {

// Something that has come to its end, as op->kind says: a receive, or a send whose memory may be
// reused now.
struct DatagramEvent {
  Op* op = nullptr;
  std::span<const std::byte> bytes{};  // received; valid until renew(*op)
};

// An endpoint of a fabric that was opened with FabricOptions::datagrams, and its posted receives.
//
// Several datagrams per call are received where the provider has them. `udp` of libfabric has
// neither sendmmsg() nor recvmmsg(): a datagram is a system call there.
//
// Thread rule: one thread at a time.
class DatagramEndpoint {
 public:
  struct Options {
    std::size_t receives = 256;  // posted; at most as many as the provider takes
    std::size_t sends = 1024;    // whose ends find room in the completion queue, if not polled for
    // Asked of the system for what arrives while nobody polls, where the provider is a socket: it
    // gives no more than net.core.rmem_max.
    std::size_t socket_bytes = std::size_t{4} << 20;
  };
  // Of those that providers allow: as long as this at most.
  static constexpr std::size_t kLongest = 8192;

  // Throws Error: libfabric refuses, or datagrams are shorter than `least_bytes`.
  DatagramEndpoint(Fabric& fabric, const Options& options, std::size_t least_bytes = 0);
  DatagramEndpoint(const DatagramEndpoint&) = delete;
  DatagramEndpoint& operator=(const DatagramEndpoint&) = delete;

  // What others need to reach this endpoint, and the way back: see Endpoint.
  std::vector<std::byte> address() const { return endpoint_.address(); }
  fi_addr_t insert(std::span<const std::byte> address) { return endpoint_.insert(address); }

  // The longest datagram, a multiple of 8.
  std::size_t datagram_bytes() const noexcept { return datagram_bytes_; }
  // So many bytes before each datagram that is sent belong to the provider (FI_MSG_PREFIX), within
  // the same registered memory. A multiple of 8.
  std::size_t headroom() const noexcept { return headroom_; }
  // Memory for datagrams that are sent, `count` of headroom() + datagram_bytes() each.
  Buffers make_buffers(std::size_t count) {
    return {fabric_, endpoint_, count, headroom_ + datagram_bytes_};
  }

  enum class Sent : std::uint8_t {
    kDone,      // the memory may be reused
    kInFlight,  // poll() will report `op`
    kNoRoom,    // poll, and try again
  };
  // Sends at most datagram_bytes(). Where the system refuses the datagram for good, it counts as
  // sent and lost: last_refusal() says why.
  [[nodiscard]] Sent try_send(fi_addr_t to, std::span<const std::byte> datagram, void* descriptor,
                              Op& op);
  const std::string& last_refusal() const noexcept { return refusal_; }

  // What has come to its end, at most events.size(); 0: nothing. Throws Error when the completion
  // queue fails.
  int poll(std::span<DatagramEvent> events);
  // Posts the receive of a datagram again, when it has been read.
  void renew(Op& op);

  // A descriptor that is readable when there is something to poll for, -1: none.
  int wait_fd() const noexcept { return socket_ >= 0 ? socket_ : endpoint_.wait_fd(); }
  // Whether a sleep on it would wake for what comes from now on; false: poll first.
  bool may_sleep() noexcept { return socket_ >= 0 || endpoint_.may_sleep(); }
  // How many of the longest datagrams find room while nobody polls.
  std::size_t capacity() const noexcept { return capacity_; }

  void drive() noexcept { endpoint_.drive(); }

 private:
  struct Receive {
    explicit Receive(std::span<std::byte> buffer) noexcept : buffer(buffer) {}
    Op op{Op::Kind::kReceive};  // first
    const std::span<std::byte> buffer;
  };
  static Receive& receive_of(const Op& op) noexcept {
    return reinterpret_cast<Receive&>(const_cast<Op&>(op));  // its first member
  }
  void use_socket(const Options& options);
  void post();

  Fabric& fabric_;
  Endpoint endpoint_;
  const std::size_t headroom_;
  const std::size_t datagram_bytes_;
  const std::size_t inject_bytes_;
  Buffers buffers_;
  std::deque<Receive> receives_;
  std::vector<Receive*> refused_;  // not posted yet
  int socket_ = -1;                // the provider's own
  std::size_t capacity_;
  std::string refusal_;
};

}  // namespace rdma
