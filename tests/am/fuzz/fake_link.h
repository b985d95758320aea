// A link without a network: keeps what is sent, and delivers what it is given.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "am/link/link.h"
#include "tests/am/fuzz/fuzz.h"

namespace am::fuzz {

struct FakeLinkOptions {
  bool rma = true;
  bool in_order = true;  // writes come before later packets
  bool emulated = true;  // so packets are preferred
};

class FakeLink final : public link::Link {
 public:
  using Options = FakeLinkOptions;
  struct Packet {
    Rank peer;
    Bytes bytes;
  };

  explicit FakeLink(const Options& options) : options_(options) {}

  // The next poll() delivers `packet`, which says its length, as coming from `from`.
  void put(Rank from, std::span<const std::byte> packet);
  // What was sent, oldest first.
  std::deque<Packet>& sent() noexcept { return sent_; }

  std::byte* claim(Rank to, std::uint32_t bytes) override;
  void commit(Rank to) override;
  bool push() override { return true; }
  bool gathers(Rank) const noexcept override { return false; }
  bool congested(Rank) const noexcept override { return false; }
  int poll(link::PacketSink& sink) override;
  bool fetch(link::PacketSink&) override { return !arrived_.empty(); }
  bool busy() const noexcept override { return !done_.empty(); }
  void verify() override {}
  void forget(Rank) override {}
  void drive() noexcept override {}
  bool has_rma() const noexcept override { return options_.rma; }
  link::RemoteKey segment_key(Rank) const noexcept override { return {0, 0}; }
  bool try_access(const link::RmaAccess& access, link::Completion& done) override;
  bool writes_before_packets(std::size_t) const noexcept override { return options_.in_order; }
  std::size_t max_put() const noexcept override { return options_.rma ? 1 << 20 : 0; }
  bool try_put(Rank, std::uint64_t, std::span<const std::byte> from, std::uint64_t,
               link::Completion& done) override;
  unsigned arrival_bits() const noexcept override { return 64; }
  std::unique_ptr<link::Registration> register_memory(std::span<std::byte> range) override;
  link::RegistrationStats registration_stats() const override { return {}; }
  const link::StrangerStats& stranger_stats() const noexcept override { return strangers_; }
  bool prefers_packets() const noexcept override { return options_.emulated; }
  int wait_fd() const noexcept override { return -1; }
  bool may_sleep() noexcept override { return false; }
  std::int64_t patience_ns() const noexcept override { return 0; }
  std::string describe() const override { return "nothing"; }

 private:
  void look_at(std::span<const std::byte> bytes);

  const Options options_;
  std::deque<Packet> sent_;
  std::vector<std::uint64_t> claimed_;  // words: packets are aligned
  std::size_t claimed_bytes_ = 0;
  std::deque<std::pair<Rank, std::vector<std::uint64_t>>> arrived_;
  std::deque<link::Completion*> done_;  // what the next poll() completes
  link::StrangerStats strangers_;
  Bytes looked_at_;
};

}  // namespace am::fuzz
