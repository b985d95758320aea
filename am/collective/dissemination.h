#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "am/collective/payload.h"
#include "am/link/link.h"
#include "am/link/packet_sinks.h"
#include "am/route/port.h"
#include "am/route/router.h"

namespace am {

// The part of a barrier that goes between nodes: the lowest rank of each, its leader, disseminates
// by packets that all processes of its node have entered, that one of them has more to do, that one
// is in another call, and a payload. log2(nodes) rounds of a message for each node. Where a payload
// has much, and a place for it there, the network writes it before the packet.
//
// What comes may belong to the next barrier already, but not to a later one: who sends that has
// passed the next, which this process would have entered first.
//
// Thread rule: the barrier's; packets are taken by whichever thread is inside the port.
class Dissemination final : public link::TypeSink {
 public:
  // What a process says when it begins, and then what is known of all.
  struct Word {
    bool more = false;
    bool differs = false;
  };

  // Before the first poll of the job. `router` outlives it. Registers at its port.
  explicit Dissemination(const Router& router);

  // By a leader: all processes of its node have entered barrier number `epoch`. The payload, if
  // there is one, lives until has_ended().
  void begin(std::uint64_t epoch, Word word, Payload* payload);
  bool has_begun() const noexcept { return telling_; }
  // It ends before.
  void forget_payload() noexcept { payload_ = nullptr; }
  // Makes the progress that is possible; whether all nodes have entered, and nothing of this one is
  // to be sent any more.
  bool has_ended();
  // Then.
  const Word& result() const noexcept { return word_; }

  bool take(Rank from, const link::PacketHeader& packet) override;

 private:
  static constexpr int kRounds = RegionHeader::kRounds;

  // What a round has brought.
  struct Arrived {
    std::vector<std::byte> data;
    std::uint64_t digest = 0;
    std::uint64_t written = 0;
    Word word;
  };
  // What is written before the packet of a round.
  struct Write : link::Completion {
    enum class State : std::uint8_t { kNone, kToStart, kUnderWay };
    State state = State::kNone;
    int round = 0;
    std::atomic<bool> is_done = false;
    std::optional<link::RmaAccess> access;
  };

  Arrived& arrived(std::uint64_t epoch, int round) noexcept { return arrived_[epoch % 2][round]; }
  Rank signaller(int round) const noexcept;
  Rank receiver(int round) const noexcept;
  void signal(int round);
  bool has_signalled();
  bool begin_write(int round, std::span<const std::byte> data);
  void send(int round, std::span<const std::byte> data);
  void send_packet(int round, std::span<const std::byte> data, std::uint64_t written,
                   bool continues) const;
  void learn(int round);
  std::uint64_t digest() const noexcept { return payload_ != nullptr ? payload_->digest() : 0; }

  // Constant after construction.
  const Router& router_;
  const std::vector<Rank>& leaders_;
  const std::uint32_t node_;
  int rounds_ = 0;
  // Owned by the barrier's thread.
  std::uint64_t epoch_ = 0;
  Payload* payload_ = nullptr;
  Word word_;
  int round_ = 0;
  bool telling_ = false;  // round 0 is being signalled, or has been
  Write write_;
  std::optional<Expectation> expects_;  // while it is going on
  // Written by whoever takes packets, and read when the round's flag in this process's region says
  // that all of it is there.
  Arrived arrived_[2][kRounds];
};

}  // namespace am
