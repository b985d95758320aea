// am/collective: what all processes of a job do together, in the same order: barriers, and the
// exchange of addresses before messages can be sent. It uses am/core, am/route and am/link.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "am/collective/nodes.h"
#include "am/core/bundle.h"
#include "am/link/link.h"
#include "am/observe/observers.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "am/types/types.h"

namespace am {

// The part of a barrier that goes between nodes: the lowest rank of each, its leader, disseminates
// by packets that all processes of its node have entered, and whether one of them has more to do.
// log2(nodes) rounds of a message for each node.
//
// An arrival may belong to the next barrier already, but not to a later one: its sender would have
// passed the next, which this process must enter first.
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
  // Whether the sender of a round knows of one with more to do. Written by the thread that takes
  // packets, and read when the round's flag in this process's region says that it is valid.
  bool arrived_[2][kRounds] = {};
};

// A barrier over all processes of the job; on one node by flags in shared memory and no message.
//
// With a core for every process it is a dissemination barrier: in round k each process signals the
// one 2^k further on, so log2(N) one-way transfers follow one another, and two processes make
// exactly one each. With more processes than cores every round would cost a turn of the scheduler,
// so all increment one counter instead and the last one wakes the others: two turns each.
//
// In a job of several nodes the processes of each increment the counter of their lowest rank, and
// these lowest ranks ("leaders") disseminate among themselves, by packets.
//
// Thread rule: the bundle's. One barrier per process and job: all processes pass it in step.
class Barrier {
 public:
  // Before the first poll of the job. `router` outlives it.
  explicit Barrier(const Router& router);

  // Enters the barrier, and passes on whether this process has `more` to do, for any_more(). Never
  // waits. Once per pass: returns false, and does nothing, where an exception has left the wait for
  // a barrier that was entered before.
  bool enter(bool more = false) noexcept;
  // Whether all have entered. Call it, polling in between, until it returns true: it makes the
  // progress of the dissemination. What others wrote before they entered is then visible here.
  bool passed() noexcept;
  // Whether any process entered the barrier that was passed last with more to do. After each
  // barrier in which one may have, all processes call it, once.
  bool any_more() noexcept;

  // The second half: polls all bundles of the calling thread, of which `bundle` is one, until
  // passed(). On behalf of `call`.
  void wait(Bundle& bundle, Call call) {
    if (Trace* const trace = active_trace()) [[unlikely]]
      return wait_traced(*trace, bundle, call);
    wait_for_all(bundle, call);
  }
  const Nodes& nodes() const noexcept { return nodes_; }
  // How often enter() was called.
  std::uint64_t count() const noexcept { return epoch_; }

 private:
  void wait_for_all(Bundle& bundle, Call call);
  void wait_traced(Trace& trace, Bundle& bundle, Call call);
  bool counts() const noexcept { return rounds_ == 0; }
  bool leads() const noexcept { return leader_ == router_.rank(); }
  RegionHeader& root() const noexcept { return *router_.peer(leader_).header; }
  shmem::SharedCounter& more() const noexcept { return root().more[epoch_ % 2]; }
  bool has_more() const noexcept { return more().total() != known_[epoch_ % 2]; }
  void signal(int round) noexcept;
  bool disseminated() noexcept;
  bool has_passed() noexcept;
  bool leaders_have_passed() noexcept;
  void release() noexcept;

  // Constant after construction.
  const Router& router_;
  const bool several_nodes_;
  const Rank leader_;  // of this node
  const Nodes nodes_;
  int rounds_ = 0;  // among the processes of one node; 0: they count
  // Owned by the bundle's thread.
  std::uint64_t epoch_ = 0;
  bool entered_ = false;  // and not passed
  int round_ = 0;
  Dissemination between_;  // among the nodes
  // Totals of `more` when any_more() was asked last. A total of a barrier does not change between
  // the first return from it and the last entry to the next: that one has the other total.
  std::uint64_t known_[2] = {};
};

}  // namespace am
