#pragma once

#include <string>

#include "am/am.h"
#include "benchmarks/support/pair.h"

namespace bench {

// Where the two measuring processes were. On virtual machines the cores behind them may be near to
// one another now (one cache below both) and far a second later, which makes a factor of three to
// five on every figure of shared memory; nothing but the round trip of a cache line shows it. So
// the round trip is taken before, all the time during, and after a run, and figures of runs with
// different labels are not to be compared.
class Placement {
 public:
  // Collective over the job: learns to which cores the processes are bound.
  explicit Placement(am::Job& job);

  // Both ranks of the pair, before the first and after the last measurement. Nothing can be seen
  // of a pair that is not on one node.
  void before(Pair& pair) { before_ = settled(pair); }
  void after(Pair& pair) { after_ = settled(pair); }

  double round_trip_before_ns() const noexcept { return before_; }
  double round_trip_after_ns() const noexcept { return after_; }

  // "bound to cores 0 and 1" or why they are not.
  const std::string& binding() const noexcept { return binding_; }
  // near, far or mixed, and the round trips that say so.
  std::string regime(const Pair& pair) const;

 private:
  // Seen with both directions in one line: near 48 to 60 ns (AMD) and 95 to 135 (Intel), far 311
  // (AMD). This is between the two, by factors.
  static constexpr double kFarNs = 200;
  // Within one placement a round trip stays within this factor of the least.
  static constexpr double kSpread = 1.5;

  static double settled(Pair& pair);

  std::string binding_;
  double before_ = 0;
  double after_ = 0;
};

}  // namespace bench
