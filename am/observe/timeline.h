#pragma once

#include <cstdint>
#include <vector>

#include "am/observe/event.h"

namespace am {

// One machine's ticks() as nanoseconds of one clock of the job: a line through two readings of the
// machine's clocks, and by how much the job's clock was ahead, measured at two moments. Pure logic.
struct ClockLine {
  // ticks() and now_ns() at one moment, as well as can be read.
  struct Reading {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
  };
  // The job's clock less this one.
  struct Offset {
    std::int64_t at_ns = 0;  // of this machine
    std::int64_t ns = 0;
  };

  Reading first;
  Reading last;
  Offset before;
  Offset after;

  // In nanoseconds of the job's clock.
  std::int64_t at(std::uint64_t ticks) const noexcept;
};

// A question that another process has answered by reading its clock.
struct ClockAnswer {
  std::int64_t asked_ns;     // of the process that asks
  std::int64_t there_ns;     // of the other
  std::int64_t answered_ns;  // of the process that asks
};

// The offset by the answer that took least; wrong by half of that at most, if the clocks run
// equally fast.
class BestAnswer {
 public:
  void add(const ClockAnswer& answer) noexcept;
  bool any() const noexcept { return any_; }
  // 0 if none was added.
  ClockLine::Offset offset() const noexcept { return offset_; }
  std::int64_t took_ns() const noexcept { return took_ns_; }

 private:
  bool any_ = false;
  std::int64_t took_ns_ = 0;
  ClockLine::Offset offset_;
};

// Both clocks of this machine, the best of several attempts. Takes a microsecond.
ClockLine::Reading read_clocks() noexcept;

// The events at which flows end, to be looked up. Pure logic. Takes 8 to 16 bytes for each.
class FlowEnds {
 public:
  // Room for so many.
  explicit FlowEnds(std::size_t most);

  // `event`, which outlives this, has a flow. (Of several with one flow, all can be taken.)
  void add(TraceEvent& event) noexcept;
  // The end of `flow`, which has not been taken before; nullptr: there is none.
  TraceEvent* take(TraceFlow flow) noexcept;

 private:
  std::size_t place_of(TraceFlow flow) const noexcept { return flow & (places_.size() - 1); }

  std::vector<TraceEvent*> places_;  // as many as a power of two, at most half of them in use
};

}  // namespace am
