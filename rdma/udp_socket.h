// A socket of our own for unreliable datagrams, beside libfabric.
//
// Why: `udp` of libfabric (1.17 to 2.1) sends and receives one datagram a system call, FI_MORE or
// not, and allows 1,472 bytes whatever the network is. On a loopback a datagram may have 65,507;
// and the kernel takes and gives many shorter ones at once: cut by itself from one long piece
// (UDP_SEGMENT, UDP_GRO), or in a list (sendmmsg, recvmmsg).
#pragma once

#include <netinet/in.h>
#include <rdma/fabric.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rdma/library.h"

namespace rdma {

// Something that has come to its end, as op->kind says: a receive, or a send whose memory may be
// reused now.
struct DatagramEvent {
  Op* op = nullptr;
  std::span<const std::byte> bytes{};  // received; valid until renew(*op)
};

enum class Sent : std::uint8_t {
  kDone,      // the memory may be reused
  kInFlight,  // `op` will be reported
  kNoRoom,    // poll, and try again
};

// The longest datagram of UDP, rounded down to a multiple of 8.
inline constexpr std::size_t kLongestUdp = 65'504;

// So long a datagram fits into a packet of `mtu` bytes, rounded down to a multiple of 8.
std::size_t udp_bytes(std::size_t mtu, int family) noexcept;

// Nothing is believed of what comes but its length. Memory: kReceives datagrams, or pieces of 64
// KiB.
//
// Thread rule: one thread at a time.
class UdpSocket {
 public:
  struct Options {
    std::size_t room_bytes = 0;  // asked of the system for what arrives while nobody polls
    std::size_t most_bytes = kLongestUdp;  // of a datagram
    bool segments = true;                  // false: as if the kernel had no UDP_SEGMENT and UDP_GRO
  };

  // On a port of the address `local`, which the interface has. Throws Error: the system refuses.
  UdpSocket(std::span<const std::byte> local, const std::string& interface, const Options& options);
  ~UdpSocket();

  std::vector<std::byte> address() const;
  // Throws Error: not an address of the same family.
  fi_addr_t insert(std::span<const std::byte> address);

  // The longest datagram that the interface takes whole, a multiple of 8; and the longest that the
  // route to `to` takes, as the system says.
  std::size_t datagram_bytes() const noexcept { return datagram_bytes_; }
  std::size_t route_bytes(fi_addr_t to) const noexcept;
  // What the system has given of Options::room_bytes.
  std::size_t room_bytes() const noexcept { return room_bytes_; }

  // Sends it at once: kDone. With `more`, and behind one of these, it is held back until flush():
  // kInFlight.
  Sent try_send(fi_addr_t to, std::span<const std::byte> datagram, Op& op, bool more);
  // Sends what has been held back; returns those whose memory may be reused, valid until the next
  // call. The others are sent by the next call.
  std::span<Op* const> flush();
  bool holds_back() const noexcept { return queued_ != 0; }
  const std::string& last_refusal() const noexcept { return refusal_; }

  // At most events.size(), 0: none. One if the last one was long: then reading them into the same
  // memory one after the other is faster than a system call less.
  int poll(std::span<DatagramEvent> events);
  void renew(Op& op);
  int fd() const noexcept { return fd_; }
  bool may_sleep() const noexcept { return rest_.empty(); }

  // "several a system call (UDP_SEGMENT, UDP_GRO)"
  std::string describe() const;

 private:
  static constexpr std::size_t kBatch = 64;     // datagrams of a flush(), and of one UDP_SEGMENT
  static constexpr std::size_t kReceives = 20;  // more than a caller holds at a time
  static constexpr std::size_t kReads = 16;     // of one system call
  static constexpr std::size_t kShort = 4'096;

  // Memory that datagrams were received into; one, or, with UDP_GRO, several.
  struct Receive {
    explicit Receive(std::span<std::byte> buffer) noexcept : buffer(buffer) {}
    Op op{Op::Kind::kReceive};  // first
    const std::span<std::byte> buffer;
    std::size_t open = 0;  // events that were not renewed
  };
  struct Queued {
    fi_addr_t to;
    std::span<const std::byte> bytes;
    Op* op;
  };
  union Control {
    cmsghdr head;
    std::byte bytes[CMSG_SPACE(sizeof(int))];
  };

  void ask_for_room(std::size_t wanted);
  msghdr message_to(fi_addr_t to) noexcept;
  std::size_t same_message(std::size_t first, std::size_t end) const noexcept;
  Receive* take_receive() noexcept;
  int read_one(std::span<DatagramEvent> events);
  int read_several(std::span<DatagramEvent> events);
  int hand_out(std::span<DatagramEvent> events) noexcept;

  const int fd_;
  int family_;
  std::size_t datagram_bytes_ = 0;
  std::size_t room_bytes_ = 0;
  bool cuts_ = false;   // UDP_SEGMENT is used
  bool joins_ = false;  // UDP_GRO is
  std::vector<sockaddr_in6> peers_;
  std::vector<std::uint32_t> route_bytes_;
  std::array<Queued, kBatch> queue_{};
  std::size_t queued_ = 0;
  std::array<Op*, kBatch> done_{};
  std::unique_ptr<std::byte[]> memory_;
  std::deque<Receive> receives_;
  std::vector<Receive*> free_;
  std::size_t last_bytes_ = 0;  // of the datagram that came last
  // What has been read and not been handed out: datagrams of cut_ bytes each, and the last.
  Receive* split_ = nullptr;
  std::span<const std::byte> rest_;
  std::size_t cut_ = 0;
  std::string refusal_;
};

}  // namespace rdma
