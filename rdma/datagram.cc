#include "rdma/datagram.h"

#include <rdma/fi_errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "rdma/descriptor.h"
#include "rdma/error.h"

namespace rdma {
namespace {

// IPv6 has a header 20 bytes longer than IPv4's, and udp allows datagrams as if all were IPv4: on
// an Ethernet they would be sent in two parts.
constexpr std::size_t kLongerHeader = 24;

// What the kernel charges a socket for a datagram that fits into a frame of Ethernet, its
// bookkeeping included (Linux 6.18, loopback).
constexpr std::size_t kCharged = 2304;

std::size_t headroom_of(const Fabric& fabric) {
  return (fabric.info().mode & FI_MSG_PREFIX) != 0 ? fabric.info().ep_attr->msg_prefix_size : 0;
}

std::size_t longest_of(const Fabric& fabric) {
  std::size_t bytes = fabric.info().ep_attr->max_msg_size;
  bytes -= std::min(bytes, headroom_of(fabric));
  if (fabric.info().addr_format == FI_SOCKADDR_IN6 && bytes > kLongerHeader) bytes -= kLongerHeader;
  return std::min(bytes, DatagramEndpoint::kLongest) & ~std::size_t{7};
}

// The socket of this process that is bound to `address`. The providers do not give it away.
// Sleeping on it is free, whereas with a descriptor of the completion queue (FI_WAIT_FD) udp makes
// a system call more for each datagram; and its room can be asked for. -1: there is none.
int socket_bound_to(std::span<const std::byte> address) {
  for (const int fd : open_descriptors()) {
    int type = 0;
    socklen_t length = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_DGRAM) continue;
    std::array<std::byte, sizeof(sockaddr_storage)> bound{};
    length = bound.size();
    if (getsockname(fd, reinterpret_cast<sockaddr*>(bound.data()), &length) != 0) continue;
    if (std::ranges::equal(std::span(bound).first(length), address)) return fd;
  }
  return -1;
}

}  // namespace

DatagramEndpoint::DatagramEndpoint(Fabric& fabric, const Options& options, std::size_t least_bytes)
    : fabric_(fabric),
      endpoint_(fabric, {.operations = options.receives + options.sends,
                         .wait_fd = fabric.candidate().provider != "udp"}),
      headroom_(headroom_of(fabric)),
      datagram_bytes_(longest_of(fabric)),
      inject_bytes_(fabric.inject_bytes()),
      buffers_(fabric, endpoint_, std::min(options.receives, fabric.info().rx_attr->size),
               headroom_ + datagram_bytes_),
      capacity_(buffers_.size()) {
  if (datagram_bytes_ < least_bytes) {
    throw Error("rdma: " + fabric.describe() + " carries datagrams of " +
                std::to_string(datagram_bytes_) + " bytes, and at least " +
                std::to_string(least_bytes) + " are needed; choose another with SPLITC_PROVIDER");
  }
  refused_.reserve(buffers_.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    refused_.push_back(&receives_.emplace_back(buffers_[i]));
  }
  post();
  if (fabric.candidate().provider == "udp") use_socket(options);
}

void DatagramEndpoint::use_socket(const Options& options) {
  socket_ = socket_bound_to(endpoint_.address());
  if (socket_ < 0) return;
  const int wanted = static_cast<int>(options.socket_bytes);
  setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &wanted,
             sizeof wanted);  // what it gives is asked next
  int given = 0;
  socklen_t length = sizeof given;
  if (getsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &given, &length) == 0) {
    capacity_ = static_cast<std::size_t>(given) / kCharged;
  }
}

DatagramEndpoint::Sent DatagramEndpoint::try_send(fi_addr_t to, std::span<const std::byte> datagram,
                                                  void* descriptor, Op& op) {
  const std::span<const std::byte> whole(datagram.data() - headroom_, datagram.size() + headroom_);
  try {
    if (whole.size() <= inject_bytes_) {
      return endpoint_.try_inject(to, whole) ? Sent::kDone : Sent::kNoRoom;
    }
    return endpoint_.try_send(to, whole, descriptor, op) ? Sent::kInFlight : Sent::kNoRoom;
  } catch (const Error& error) {
    if (is_local_shortage(error.code)) return Sent::kNoRoom;
    refusal_ = error.what();
    return Sent::kDone;
  }
}

int DatagramEndpoint::poll(std::span<DatagramEvent> events) {
  std::array<fi_cq_data_entry, 32> read;
  Failure failure;
  const int count =
      endpoint_.poll(std::span(read).first(std::min(read.size(), events.size())), failure);
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
    const std::span<const std::byte> buffer = receive_of(op).buffer;
    const std::size_t end = std::clamp(one.len, headroom_, buffer.size());
    event.bytes = buffer.first(end).subspan(headroom_);
  }
  return ours;
}

void DatagramEndpoint::renew(Op& op) {
  refused_.push_back(&receive_of(op));
  post();
}

void DatagramEndpoint::post() {
  while (!refused_.empty()) {
    Receive& next = *refused_.back();
    if (!endpoint_.try_receive(next.buffer, buffers_.descriptor(), next.op)) return;
    refused_.pop_back();
  }
}

}  // namespace rdma
