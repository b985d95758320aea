// A link that keeps what it is given to send, and lets packets grow as far as a test says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "am/link/link.h"
#include "am/types/types.h"

namespace am::link::test {

class FakeLink final : public Link {
 public:
  FakeLink() { can_.emulated = true; }
  // With this from the beginning: what is made for the link looks at it once.
  explicit FakeLink(const Abilities& can) { can_ = can; }

  struct Packet {
    Rank to;
    std::vector<std::byte> bytes;
  };

  std::vector<Packet> sent;
  std::uint32_t tail_bytes = 0;
  std::uint32_t tail_commits = 0;
  std::uint32_t grows_by = 0;  // bytes that the next packet of Next::kSame may still get
  std::uint64_t grows_until = ~std::uint64_t{0};
  Queue queued = Queue::kEmpty;                        // what queue() says
  std::function<bool(const RmaAccess&)> takes_access;  // try_access(); empty: none

  std::byte* claim(Rank to, std::uint32_t bytes) override {
    claimed_ = {to, std::vector<std::byte>(bytes)};
    return claimed_.bytes.data();
  }
  Tail* commit(Rank to, Next next) override {
    claimed_.to = to;
    sent.push_back(std::exchange(claimed_, {}));
    if (next != Next::kSame || grows_by == 0) return nullptr;
    std::vector<std::byte>& packet = sent.back().bytes;
    tail_bytes = static_cast<std::uint32_t>(packet.size());
    packet.resize(packet.size() + grows_by);
    tail_ = {.packet = packet.data(),
             .room = grows_by,
             .until = grows_until,
             .bytes = &tail_bytes,
             .commits = &tail_commits};
    return &tail_;
  }
  void grow_until(std::uint64_t ticks) noexcept { tail_.until = ticks; }
  Queue queue(Rank, std::size_t) override { return queued; }
  bool flush() override { return true; }
  bool try_access(const RmaAccess& access, Completion&) override {
    return takes_access && takes_access(access);
  }
  bool busy() const noexcept override { return false; }
  std::int64_t longest_sleep_ns() noexcept override { return -1; }
  void verify() override {}
  void forget(Rank) override {}

 private:
  int take(PacketSink&, bool) override { return 0; }

  Packet claimed_{};
  Tail tail_;
};

}  // namespace am::link::test
