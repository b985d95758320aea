#include "rdma/udp_socket.h"

#include <net/if.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rdma/error.h"
#include "rdma/process.h"

namespace rdma {
namespace {

#ifndef UDP_SEGMENT
constexpr int UDP_SEGMENT = 103;
#endif
#ifndef UDP_GRO
constexpr int UDP_GRO = 104;
#endif

constexpr std::size_t kEthernet = 1'500;
constexpr std::size_t kJoined = 65'536;  // what UDP_GRO joins at most
constexpr int kSendRoom = 1 << 20;

int open_socket(std::span<const std::byte> local) {
  sockaddr head{};
  std::memcpy(&head, local.data(), std::min(local.size(), sizeof head));
  const int fd =
      above_standard_streams(socket(head.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd < 0) fail("a socket for datagrams", errno);
  return fd;
}

std::size_t interface_mtu(int fd, const std::string& interface) {
  ifreq request{};
  interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
  return ioctl(fd, SIOCGIFMTU, &request) == 0 ? static_cast<std::size_t>(request.ifr_mtu)
                                              : kEthernet;
}

// What the system knows of the way from this machine; 0: nothing.
std::size_t route_mtu(const sockaddr_in6& to) {
  const int fd = socket(to.sin6_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int mtu = 0;
  socklen_t length = sizeof mtu;
  const bool v6 = to.sin6_family == AF_INET6;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 ||
      getsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &mtu, &length) != 0) {
    mtu = 0;
  }
  close(fd);
  return static_cast<std::size_t>(std::max(mtu, 0));
}

socklen_t length_of(int family) noexcept {
  return family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

bool is_shortage(int error) noexcept {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR;
}

}  // namespace

std::size_t udp_bytes(std::size_t mtu, int family) noexcept {
  const std::size_t headers = family == AF_INET6 ? 48 : 28;
  return std::min(mtu - std::min(mtu, headers), kLongestUdp) & ~std::size_t{7};
}

UdpSocket::UdpSocket(std::span<const std::byte> local, const std::string& interface,
                     const Options& options)
    : fd_(open_socket(local)), family_(0) {
  sockaddr_in6 mine{};
  std::memcpy(&mine, local.data(), std::min(local.size(), sizeof mine));
  mine.sin6_port = 0;  // any; both families have it in the same place
  family_ = mine.sin6_family;
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&mine), length_of(family_)) != 0) {
    const int error = errno;
    close(fd_);
    fail("a socket for datagrams on " + interface, error);
  }
  datagram_bytes_ =
      std::min(udp_bytes(interface_mtu(fd_, interface), family_), options.most_bytes & ~7UL);
  ask_for_room(options.room_bytes);
  const int on = 1;
  int off = 0;
  socklen_t length = sizeof off;
  if (options.segments && 2 * datagram_bytes_ <= kLongestUdp) {
    cuts_ = getsockopt(fd_, IPPROTO_UDP, UDP_SEGMENT, &off, &length) == 0;
    joins_ = setsockopt(fd_, IPPROTO_UDP, UDP_GRO, &on, sizeof on) == 0;
  }
  const std::size_t each = joins_ ? kJoined : datagram_bytes_;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(kReceives * each);
  for (std::size_t i = 0; i < kReceives; ++i) {
    free_.push_back(&receives_.emplace_back(std::span(memory_.get() + i * each, each)));
  }
}

UdpSocket::~UdpSocket() { close(fd_); }

// SO_RCVBUFFORCE is for the privileged; anybody else gets no more than net.core.rmem_max.
void UdpSocket::ask_for_room(std::size_t wanted) {
  const int bytes = static_cast<int>(wanted);
  if (setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);  // what it gives is asked next
  }
  setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &kSendRoom, sizeof kSendRoom);  // less is no harm
  int given = 0;
  socklen_t length = sizeof given;
  if (getsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &given, &length) == 0) {
    room_bytes_ = static_cast<std::size_t>(given);
  }
}

std::vector<std::byte> UdpSocket::address() const {
  std::vector<std::byte> bytes(length_of(family_));
  socklen_t length = length_of(family_);
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(bytes.data()), &length) != 0) {
    fail("getsockname", errno);
  }
  return bytes;
}

fi_addr_t UdpSocket::insert(std::span<const std::byte> address) {
  sockaddr_in6 peer{};
  std::memcpy(&peer, address.data(), std::min(address.size(), sizeof peer));
  if (address.size() != length_of(family_) || peer.sin6_family != family_) {
    throw Error("it is no address of " + std::string(family_ == AF_INET6 ? "IPv6" : "IPv4"));
  }
  const std::size_t mtu = route_mtu(peer);
  peers_.push_back(peer);
  route_bytes_.push_back(static_cast<std::uint32_t>(
      mtu == 0 ? datagram_bytes_ : std::min(udp_bytes(mtu, family_), datagram_bytes_)));
  return peers_.size() - 1;
}

std::size_t UdpSocket::route_bytes(fi_addr_t to) const noexcept { return route_bytes_[to]; }

Sent UdpSocket::try_send(fi_addr_t to, std::span<const std::byte> datagram, Op& op, bool more) {
  if (more || queued_ != 0) {  // not before those that are held back
    if (queued_ == kBatch) return Sent::kNoRoom;
    queue_[queued_++] = {.to = to, .bytes = datagram, .op = &op};
    return Sent::kInFlight;
  }
  if (sendto(fd_, datagram.data(), datagram.size(), 0,
             reinterpret_cast<const sockaddr*>(&peers_[to]), length_of(family_)) >= 0) [[likely]] {
    return Sent::kDone;
  }
  if (is_shortage(errno)) return Sent::kNoRoom;
  refusal_ = std::string("sendto: ") + std::strerror(errno);
  return Sent::kDone;
}

msghdr UdpSocket::message_to(fi_addr_t to) noexcept {
  msghdr message{};
  message.msg_name = &peers_[to];
  message.msg_namelen = length_of(family_);
  return message;
}

// The kernel cuts one message into datagrams of the length of the first; the last may be shorter.
// Returns where those end that can be cut from one message that begins with `first`.
std::size_t UdpSocket::same_message(std::size_t first, std::size_t end) const noexcept {
  const std::size_t each = queue_[first].bytes.size();
  std::size_t bytes = each;
  std::size_t next = first + 1;
  while (cuts_ && next != end && queue_[next].to == queue_[first].to &&
         queue_[next - 1].bytes.size() == each && queue_[next].bytes.size() <= each &&
         bytes + queue_[next].bytes.size() <= kLongestUdp) {
    bytes += queue_[next++].bytes.size();
  }
  return next;
}

std::span<Op* const> UdpSocket::flush() {
  std::size_t sent = 0;
  while (sent != queued_) {
    std::array<mmsghdr, kBatch> messages;
    std::array<iovec, kBatch> parts;
    std::array<Control, kBatch> controls;
    std::array<std::size_t, kBatch> ends;
    unsigned count = 0;
    for (std::size_t first = sent; first != queued_; ++count) {
      const std::size_t end = same_message(first, queued_);
      for (std::size_t i = first; i != end; ++i) {
        parts[i] = {const_cast<std::byte*>(queue_[i].bytes.data()), queue_[i].bytes.size()};
      }
      msghdr& message = messages[count].msg_hdr = message_to(queue_[first].to);
      message.msg_iov = &parts[first];
      message.msg_iovlen = end - first;
      if (end - first > 1) {
        controls[count] = {};
        message.msg_control = &controls[count];
        message.msg_controllen = CMSG_SPACE(sizeof(std::uint16_t));
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = IPPROTO_UDP;
        head->cmsg_type = UDP_SEGMENT;
        head->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
        const auto each = static_cast<std::uint16_t>(queue_[first].bytes.size());
        std::memcpy(CMSG_DATA(head), &each, sizeof each);
      }
      ends[count] = first = end;
    }
    const int taken = sendmmsg(fd_, messages.data(), count, 0);
    if (taken > 0) {
      sent = ends[static_cast<std::size_t>(taken - 1)];
    } else if (is_shortage(errno)) {
      break;
    } else if (ends[0] - sent > 1) {
      cuts_ = false;  // the interface, or the kernel, does not: one by one from now on
    } else {
      refusal_ = std::string("sendmmsg: ") + std::strerror(errno);
      sent = ends[0];  // lost
    }
  }
  for (std::size_t i = 0; i != sent; ++i) done_[i] = queue_[i].op;
  std::move(queue_.begin() + static_cast<std::ptrdiff_t>(sent),
            queue_.begin() + static_cast<std::ptrdiff_t>(queued_), queue_.begin());
  queued_ -= sent;
  return std::span(done_).first(sent);
}

UdpSocket::Receive* UdpSocket::take_receive() noexcept {
  if (free_.empty()) return nullptr;
  Receive* const taken = free_.back();
  free_.pop_back();
  return taken;
}

int UdpSocket::poll(std::span<DatagramEvent> events) {
  if (split_ != nullptr) return hand_out(events);
  if (joins_) return read_one(events) ? hand_out(events) : 0;
  return events.size() == 1 || last_bytes_ > kShort ? read_one(events) : read_several(events);
}

// One message, which may be several datagrams.
int UdpSocket::read_one(std::span<DatagramEvent> events) {
  Receive* const one = take_receive();
  if (one == nullptr) return 0;
  ssize_t got = -1;
  if (!joins_) {
    got = recv(fd_, one->buffer.data(), one->buffer.size(), 0);
  } else {
    iovec part{one->buffer.data(), one->buffer.size()};
    Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    got = recvmsg(fd_, &message, 0);
    cut_ = 0;
    if (got >= 0) {
      const cmsghdr* const head = CMSG_FIRSTHDR(&message);
      int each = 0;
      if (head != nullptr && head->cmsg_level == IPPROTO_UDP && head->cmsg_type == UDP_GRO) {
        std::memcpy(&each, CMSG_DATA(head), sizeof each);
      }
      cut_ = each > 0 ? static_cast<std::size_t>(each) : static_cast<std::size_t>(got);
    }
  }
  if (got < 0) {
    free_.push_back(one);
    return 0;
  }
  last_bytes_ = static_cast<std::size_t>(got);
  one->open = 1;
  if (joins_) {
    split_ = one;
    rest_ = one->buffer.first(last_bytes_);
  } else {
    events[0] = {.op = &one->op, .bytes = one->buffer.first(last_bytes_)};
  }
  return 1;
}

// Datagrams of the message that was read last. It counts as one that is open until all are out.
int UdpSocket::hand_out(std::span<DatagramEvent> events) noexcept {
  int count = 0;
  do {
    const auto next = rest_.first(std::min(cut_, rest_.size()));
    rest_ = rest_.subspan(next.size());
    events[static_cast<std::size_t>(count++)] = {.op = &split_->op, .bytes = next};
    if (!rest_.empty()) ++split_->open;
  } while (!rest_.empty() && static_cast<std::size_t>(count) != events.size());
  if (rest_.empty()) split_ = nullptr;
  return count;
}

int UdpSocket::read_several(std::span<DatagramEvent> events) {
  std::array<mmsghdr, kReads> messages;
  std::array<iovec, kReads> parts;
  const std::size_t most = std::min({events.size(), kReads, free_.size()});
  for (std::size_t i = 0; i < most; ++i) {
    const std::span<std::byte> buffer = free_[free_.size() - 1 - i]->buffer;
    parts[i] = {buffer.data(), buffer.size()};
    messages[i].msg_hdr = {};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int got = recvmmsg(fd_, messages.data(), static_cast<unsigned>(most), 0, nullptr);
  for (int i = 0; i < got; ++i) {
    Receive& one = *take_receive();
    one.open = 1;
    last_bytes_ = messages[static_cast<std::size_t>(i)].msg_len;
    events[static_cast<std::size_t>(i)] = {.op = &one.op, .bytes = one.buffer.first(last_bytes_)};
  }
  return std::max(got, 0);
}

void UdpSocket::renew(Op& op) {
  Receive& one = reinterpret_cast<Receive&>(op);  // its first member
  if (--one.open == 0) free_.push_back(&one);
}

std::string UdpSocket::describe() const {
  if (!cuts_ && !joins_) return "several a system call";
  return std::string("several a system call (") + (cuts_ ? "UDP_SEGMENT" : "") +
         (cuts_ && joins_ ? ", " : "") + (joins_ ? "UDP_GRO" : "") + ")";
}

}  // namespace rdma
