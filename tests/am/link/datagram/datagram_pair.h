// Two ends of a network of datagrams in one process and one thread, and somebody between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/link/datagram/datagram_link.h"
#include "tests/am/link/numbered.h"

namespace am::link::test {

// What DatagramLink's way to end the job throws here.
struct Fatal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One process's link, and what has come to it.
class Side final : public PacketSink {
 public:
  struct Options {
    FaultPlan faults{};
    window::Options window{};
    bool no_inject = false;  // as if the provider read what is sent after the call
    rdma::UdpSocket::Options socket = rdma::DatagramEndpoint::Options{}.socket;
  };

  // Opens its own endpoint. One of two ranks.
  explicit Side(Rank rank) : Side(rank, Options()) {}
  Side(Rank rank, const Options& options);

  DatagramLink& link() { return *link_; }
  int poll() { return link_->poll(*this); }
  bool fetch() { return link_->fetch(*this); }

  // A packet with `bytes` of data, which follow from its number.
  void send(Rank to, std::uint64_t number, std::uint16_t bytes = 0, Type type = Type::kBarrier,
            bool more = false);
  // Numbers that have come, in order. Each was whole.
  const std::vector<std::uint64_t>& numbers() const { return numbers_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  // What deliver() does after it has noted a packet, and what fetch() leaves to poll().
  std::function<void(std::uint64_t number)> on_packet;
  Type kept = Type::kGot;  // none that is sent here

 private:
  void deliver(Rank from, const PacketHeader& packet) override;
  bool arrived(std::uint64_t) override { return false; }
  bool keeps(const PacketHeader& packet) const noexcept override { return packet.type == kept; }

  std::unique_ptr<DatagramLink> link_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::string> warnings_;
};

// Two that know each other.
struct Pair {
  Pair() : Pair(Side::Options()) {}
  explicit Pair(const Side::Options& options) : Pair(options, options) {}
  Pair(const Side::Options& of_a, const Side::Options& of_b);
  // Polls both until `condition` holds.
  template <class Condition>
  void poll_until(Condition&& condition) {
    while (!condition()) {
      a.poll();
      b.poll();
    }
  }

  Side a;
  Side b;
};

// Where the card says that its process is, and the card of one that is elsewhere.
std::span<const std::byte> address_in(std::span<const std::byte> card);
std::vector<std::byte> with_address(std::span<const std::byte> card,
                                    std::span<const std::byte> address);

// A socket that datagrams to a process can be sent to instead, and that can send it others.
class Middle {
 public:
  explicit Middle(std::span<const std::byte> to);
  ~Middle();
  Middle(const Middle&) = delete;
  Middle& operator=(const Middle&) = delete;

  std::vector<std::byte> address() const;
  // A datagram that has come; empty: there is none.
  std::vector<std::byte> take();
  void send(std::span<const std::byte> bytes);

 private:
  const int fd_;
  const std::vector<std::byte> to_;
};

}  // namespace am::link::test
