// Unreliable datagrams: sent and received, and perhaps lost, doubled, exchanged or damaged on their
// way.
//
//   rdma::Fabric fabric({.datagrams = true}, way);
//   rdma::DatagramEndpoint endpoint(fabric, {});
//   const fi_addr_t peer = endpoint.insert(address_of_peer);
//   endpoint.try_send(peer, bytes, descriptor, op, false);   // headroom() bytes before are its
//   std::array<rdma::DatagramEvent, 16> events;
//   for (int i = 0, n = endpoint.poll(events); i < n; ++i) { ...; endpoint.renew(*events[i].op); }
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rdma/endpoint.h"
#include "rdma/library.h"
#include "rdma/memory.h"
#include "rdma/open_fabric.h"
#include "rdma/udp_socket.h"

namespace rdma {

// An endpoint of a fabric that was opened with FabricOptions::datagrams, and its posted receives;
// in place of libfabric's `udp` a socket of our own (udp_socket.h).
//
// Thread rule: one thread at a time.
class DatagramEndpoint {
 public:
  using Sent = rdma::Sent;

  struct Options {
    std::size_t receives = 256;  // posted; at most as many as the provider takes
    std::size_t sends = 1024;    // whose ends find room in the completion queue, if not polled for
    UdpSocket::Options socket = {.room_bytes = std::size_t{4} << 20};
  };
  // Of those that providers allow: as long as this at most.
  static constexpr std::size_t kLongest = 8192;

  // Throws Error: libfabric refuses, or datagrams are shorter than `least_bytes`.
  DatagramEndpoint(Fabric& fabric, const Options& options, std::size_t least_bytes = 0);

  // What others need to reach this endpoint, and the way back: see Endpoint.
  std::vector<std::byte> address() const {
    return socket_ ? socket_->address() : endpoint_->address();
  }
  fi_addr_t insert(std::span<const std::byte> address) {
    return socket_ ? socket_->insert(address) : endpoint_->insert(address);
  }

  // The longest datagram, a multiple of 8.
  std::size_t datagram_bytes() const noexcept { return datagram_bytes_; }
  // The longest that the route to `to` takes: no more than that.
  std::size_t route_bytes(fi_addr_t to) const noexcept {
    return socket_ ? socket_->route_bytes(to) : datagram_bytes_;
  }
  // So many bytes before each datagram that is sent belong to the provider (FI_MSG_PREFIX), within
  // the same registered memory. A multiple of 8.
  std::size_t headroom() const noexcept { return headroom_; }
  // Memory for datagrams that are sent, each with headroom() bytes before it.
  Buffers make_buffers(std::size_t bytes) {
    return endpoint_ ? Buffers(fabric_, *endpoint_, 1, bytes) : Buffers(1, bytes);
  }

  // Sends at most datagram_bytes(); with `more`, perhaps not before flush(). Where the system
  // refuses the datagram for good, it counts as sent and lost: last_refusal() says why.
  [[nodiscard]] Sent try_send(fi_addr_t to, std::span<const std::byte> datagram, void* descriptor,
                              Op& op, bool more);
  // See UdpSocket.
  std::span<Op* const> flush() { return socket_ ? socket_->flush() : std::span<Op* const>(); }
  bool holds_back() const noexcept { return socket_ && socket_->holds_back(); }
  const std::string& last_refusal() const noexcept {
    return socket_ ? socket_->last_refusal() : refusal_;
  }

  // What has come to its end, at most events.size(); 0: nothing. Throws Error when the completion
  // queue fails.
  int poll(std::span<DatagramEvent> events);
  // Posts the receive of a datagram again, when it has been read.
  void renew(Op& op) { return socket_ ? socket_->renew(op) : receives_->renew(op); }

  // A descriptor that is readable when there is something to poll for, -1: none.
  int wait_fd() const noexcept { return socket_ ? socket_->fd() : endpoint_->wait_fd(); }
  // Whether a sleep on it would wake for what comes from now on; false: poll first.
  bool may_sleep() noexcept { return socket_ ? socket_->may_sleep() : endpoint_->may_sleep(); }
  // How many bytes find room while nobody polls, if one of the longest datagrams takes `each`.
  std::size_t room_bytes(std::size_t each) const noexcept {
    return socket_ ? socket_->room_bytes() : receives_->size() * each;
  }

  void drive() noexcept {
    if (endpoint_) endpoint_->drive();
  }
  std::string describe() const {
    return fabric_.describe() + (socket_ ? ", " + socket_->describe() : "");
  }

 private:
  std::size_t open(const Options& options);

  Fabric& fabric_;
  std::optional<UdpSocket> socket_;  // one of the two
  std::optional<Endpoint> endpoint_;
  const std::size_t headroom_;
  const std::size_t datagram_bytes_;
  const std::size_t inject_bytes_;
  std::optional<Receives> receives_;
  std::string refusal_;
};

}  // namespace rdma
