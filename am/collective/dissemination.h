#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "am/link/link.h"
#include "am/route/port.h"
#include "am/route/router.h"

namespace am {

// The part of a barrier that goes between nodes: the lowest rank of each, its leader, disseminates
// by packets that all processes of its node have entered, and whether one of them has more to do.
// log2(nodes) rounds of a message for each node.
//
// What comes may belong to the next barrier already, but not to a later one: who sends that has
// passed the next, which this process would have entered first.
//
// Thread rule: the barrier's; packets are taken by whichever thread is inside the port.
class Dissemination final : public link::TypeSink {
 public:
  // Before the first poll of the job. `router` outlives it. Registers at its port.
  explicit Dissemination(const Router& router);

  // By a leader: all processes of its node have entered barrier number `epoch`, and whether one of
  // them has more to do.
  void begin(std::uint64_t epoch, bool more);
  bool has_begun() const noexcept { return telling_; }
  // Makes the progress that is possible; whether all nodes have entered, and nothing of this one is
  // to be sent any more.
  bool has_ended();
  // Then: whether any process has.
  bool any_more() const noexcept { return more_; }

  bool take(Rank from, const link::PacketHeader& packet) override;

 private:
  static constexpr int kRounds = RegionHeader::kRounds;

  bool& arrived(std::uint64_t epoch, int round) noexcept { return arrived_[epoch % 2][round]; }
  Rank signaller(int round) const noexcept;
  Rank receiver(int round) const noexcept;
  void signal(int round);

  // Constant after construction.
  const Router& router_;
  const std::vector<Rank>& leaders_;
  const std::uint32_t node_;
  int rounds_ = 0;
  // Owned by the barrier's thread.
  std::uint64_t epoch_ = 0;
  bool more_ = false;
  int round_ = 0;
  bool telling_ = false;                // round 0 has been signalled
  std::optional<Expectation> expects_;  // while it is going on
  // Whether the sender of a round knows of one with more to do. Written by whoever takes packets,
  // and read when the round's flag in this process's region says that it is there.
  bool arrived_[2][kRounds] = {};
};

}  // namespace am
