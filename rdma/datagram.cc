#include "rdma/datagram.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>

#include "rdma/error.h"

namespace rdma {
namespace {

std::size_t headroom_of(const Fabric& fabric) {
  return (fabric.info().mode & FI_MSG_PREFIX) != 0 ? fabric.info().ep_attr->msg_prefix_size : 0;
}

std::size_t longest_of(const Fabric& fabric) {
  std::size_t bytes = fabric.info().ep_attr->max_msg_size;
  bytes -= std::min(bytes, headroom_of(fabric));
  return std::min(bytes, DatagramEndpoint::kLongest) & ~std::size_t{7};
}

// `claim_no_inject` is for tests of what a provider does that a socket never does.
bool wants_socket(const Fabric& fabric) {
  return fabric.candidate().provider == "udp" && fabric.inject_bytes() != 0 &&
         fabric.info().src_addr != nullptr;
}

}  // namespace

DatagramEndpoint::DatagramEndpoint(Fabric& fabric, const Options& options, std::size_t least_bytes)
    : fabric_(fabric),
      headroom_(wants_socket(fabric) ? 0 : headroom_of(fabric)),
      datagram_bytes_(open(options)),
      inject_bytes_(fabric.inject_bytes()) {
  if (datagram_bytes_ < least_bytes) {
    throw Error("rdma: " + fabric.describe() + " carries datagrams of " +
                std::to_string(datagram_bytes_) + " bytes, and at least " +
                std::to_string(least_bytes) + " are needed; choose another with SPLITC_PROVIDER");
  }
  if (endpoint_) {
    receives_.emplace(fabric, *endpoint_, std::min(options.receives, fabric.info().rx_attr->size),
                      headroom_ + datagram_bytes_);
  }
}

// Returns the length of the longest datagram.
std::size_t DatagramEndpoint::open(const Options& options) {
  const fi_info& info = fabric_.info();
  if (wants_socket(fabric_)) {
    socket_.emplace(std::span(static_cast<const std::byte*>(info.src_addr), info.src_addrlen),
                    fabric_.candidate().interface, options.socket);
    return socket_->datagram_bytes();
  }
  endpoint_.emplace(fabric_, Endpoint::Options{.operations = options.receives + options.sends});
  return longest_of(fabric_);
}

DatagramEndpoint::Sent DatagramEndpoint::try_send(fi_addr_t to, std::span<const std::byte> datagram,
                                                  void* descriptor, Op& op, bool more) {
  if (socket_) return socket_->try_send(to, datagram, op, more);
  const std::span<const std::byte> whole(datagram.data() - headroom_, datagram.size() + headroom_);
  try {
    if (whole.size() <= inject_bytes_) {
      return endpoint_->try_inject(to, whole) ? Sent::kDone : Sent::kNoRoom;
    }
    return endpoint_->try_send(to, whole, descriptor, op) ? Sent::kInFlight : Sent::kNoRoom;
  } catch (const Error& error) {
    if (is_local_shortage(error.code)) return Sent::kNoRoom;
    refusal_ = error.what();
    return Sent::kDone;
  }
}

int DatagramEndpoint::poll(std::span<DatagramEvent> events) {
  if (socket_) return socket_->poll(events);
  std::array<fi_cq_data_entry, 32> read;
  Failure failure;
  const int count =
      endpoint_->poll(std::span(read).first(std::min(read.size(), events.size())), failure);
  if (count < 0) {
    // A datagram that could not be received or sent is a lost one.
    if (failure.op == nullptr) return 0;
    if (failure.op->kind == Op::Kind::kReceive) {
      renew(*failure.op);
      return 0;
    }
    refusal_ = failure.text;
    events[0] = {.op = failure.op, .bytes = {}};
    return 1;
  }
  int ours = 0;
  for (int i = 0; i < count; ++i) {
    const fi_cq_data_entry& one = read[static_cast<std::size_t>(i)];
    if (one.op_context == nullptr) continue;  // a put: there are none
    Op& op = Op::of(one.op_context);
    DatagramEvent& event = events[static_cast<std::size_t>(ours++)];
    event = {.op = &op, .bytes = {}};
    if (op.kind != Op::Kind::kReceive) continue;
    event.bytes = Receives::message(op, std::max(one.len, headroom_)).subspan(headroom_);
  }
  return ours;
}

}  // namespace rdma
