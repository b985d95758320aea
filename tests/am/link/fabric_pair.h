// Two ends of a network in one process and one thread, for tests of FabricLink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/link/fabric/fabric_link.h"
#include "rdma/open_fabric.h"
#include "tests/am/link/numbered.h"

namespace am::link::test {

// What FabricLink's way to end the job throws here.
struct Fatal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::unique_ptr<rdma::Fabric> open_fabric(const std::string& provider, bool local_keys = false);

// One process's link, and what has come to it.
class Side final : public PacketSink {
 public:
  static constexpr std::size_t kSegment = 1 << 20;
  static constexpr std::uint64_t kUnknownWord = 0xdead;  // which arrived() does not know

  // As if provider and job were so.
  struct Options {
    bool local_keys = false;  // the provider needs local memory registered
    bool use_rma = true;
    std::size_t longest_access = std::numeric_limits<std::size_t>::max();
    std::int64_t longest_gap_ns = 5'000'000'000;
  };

  // Opens its own fabric. One of two ranks, or more that do not exist.
  Side(const std::string& provider, Rank rank) : Side(provider, rank, Options()) {}
  Side(const std::string& provider, Rank rank, const Options& options);

  FabricLink& link() { return *link_; }
  std::span<std::byte> segment() { return {segment_.get(), kSegment}; }

  // A packet with `bytes` of data. Also inside deliver().
  void send(Rank to, std::uint64_t number, std::uint16_t bytes = 0, Type type = Type::kBarrier,
            bool more = false);
  // Numbers that have come, in order. Each was whole.
  const std::vector<std::uint64_t>& numbers() const { return numbers_; }

  // What was reported to the user.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // The words that arrived() was given, in order.
  const std::vector<std::uint64_t>& arrivals() const { return arrivals_; }

  // What deliver() does after it has noted a packet, and what fetch() leaves to poll().
  std::function<void(std::uint64_t number)> on_packet;
  Type kept = Type::kGot;  // none that is sent here

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete (bytes, std::align_val_t{4096}); }
  };

  void deliver(Rank from, const PacketHeader& packet) override;
  bool arrived(std::uint64_t word) override {
    if (word == kUnknownWord) return false;
    arrivals_.push_back(word);
    return true;
  }
  bool keeps(const PacketHeader& packet) const noexcept override { return packet.type == kept; }

  std::unique_ptr<std::byte, Free> segment_;
  std::unique_ptr<FabricLink> link_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint64_t> arrivals_;
  std::vector<std::string> warnings_;
};

// Two that know each other.
struct Pair {
  explicit Pair(const std::string& provider, const Side::Options& options = {});
  // Polls both until `condition` holds.
  template <class Condition>
  void poll_until(Condition&& condition) {
    while (!condition()) {
      a.link().poll(a);
      b.link().poll(b);
    }
  }

  Side a;
  Side b;
};

// A card taken apart: the token, the segment's key, the address.
struct CardParts {
  std::uint32_t magic;
  std::uint32_t address_bytes;
  std::uint64_t token;
  rdma::RemoteKey segment;
  std::uint32_t unused;
  std::uint32_t check;
  std::vector<std::byte> address;
};
CardParts parts_of(std::span<const std::byte> card);
// With lengths and checksum as they must be.
std::vector<std::byte> make_card(CardParts parts);

}  // namespace am::link::test
