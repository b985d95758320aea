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

class FakeLink final : public link::Link, private link::Registrar {
 public:
  using Options = FakeLinkOptions;
  struct Packet {
    Rank peer;
    Bytes bytes;
  };

  explicit FakeLink(const Options& options);

  // The next poll() delivers `packet`, which says its length, as coming from `from`.
  void put(Rank from, std::span<const std::byte> packet);
  // What was sent, oldest first.
  std::deque<Packet>& sent() noexcept { return sent_; }

  std::byte* claim(Rank to, std::uint32_t bytes) override;
  link::Tail* commit(Rank to, link::Next next) override;
  link::Queue queue(Rank, std::size_t) override { return link::Queue::kEmpty; }
  bool flush() override { return true; }
  bool try_access(const link::RmaAccess& access, link::Completion& done) override;
  bool busy() const noexcept override { return !done_.empty(); }
  std::int64_t longest_sleep_ns() noexcept override { return 0; }
  void verify() override {}
  void forget(Rank) override {}

 private:
  int take(link::PacketSink& sink, bool keeping) override;
  std::unique_ptr<link::Registration> register_memory(std::span<std::byte> range) override;
  link::RegistrationStats registration_stats() const override { return {}; }
  void look_at(std::span<const std::byte> bytes);

  std::deque<Packet> sent_;
  std::vector<std::uint64_t> claimed_;  // words: packets are aligned
  std::size_t claimed_bytes_ = 0;
  std::deque<std::pair<Rank, std::vector<std::uint64_t>>> arrived_;
  std::deque<link::Completion*> done_;  // what the next poll() completes
  Bytes looked_at_;
};

}  // namespace am::fuzz
