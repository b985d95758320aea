// am/collective: what all processes of a job do together, in the same order: barriers, and the
// exchange of addresses before messages can be sent. It uses am/core, am/route and am/link.
#pragma once

#include <cstdint>
#include <optional>

#include "am/core/bundle.h"
#include "am/link/packet_sinks.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "am/types/source_location.h"

namespace am {

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
class Barrier final : public link::TypeSink {
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

  // Takes the packet of a round, in a job of several nodes.
  bool take(Rank from, const link::PacketHeader& packet) override;

  // The second half: polls all bundles of the calling thread, of which `bundle` is one, until
  // passed(). On behalf of `call` at `where`.
  void wait(Bundle& bundle, const char* call, const SourceLocation& where) {
    bundle.wait_with_siblings(
        [this] { return passed(); },
        [&] { return Reason{.call = call, .where = where, .collective = epoch_}; });
  }
  // How often enter() was called.
  std::uint64_t count() const noexcept { return epoch_; }

 private:
  bool counts() const noexcept { return rounds_ == 0 || several_nodes_; }
  bool leads() const noexcept { return leader_ == router_.rank(); }
  RegionHeader& root() const noexcept { return *router_.peer(leader_).header; }
  shmem::SharedCounter& more() const noexcept { return root().more[epoch_ % 2]; }
  bool has_more() const noexcept { return more().total() != known_[epoch_ % 2]; }
  Rank signaller(int round) const noexcept;
  void signal(int round) noexcept;
  void signal_far(Rank to, int round) const;
  bool disseminated() noexcept;
  bool push() const noexcept;
  bool has_passed() noexcept;
  void release() noexcept;

  // Constant after construction.
  const Router& router_;
  const bool several_nodes_;
  const Rank leader_;  // of this node
  int rounds_ = 0;     // of the dissemination, among all or among the leaders
  // Owned by the bundle's thread.
  std::uint64_t epoch_ = 0;
  bool entered_ = false;  // and not passed
  int round_ = 0;
  bool telling_ = false;                // the dissemination has begun: round 0 has been signalled
  std::optional<Expectation> expects_;  // of a leader, while it is in a barrier
  // Totals of `more` when any_more() was asked last. A total of a barrier does not change between
  // the first return from it and the last entry to the next: that one has the other total.
  std::uint64_t known_[2] = {};
};

}  // namespace am
