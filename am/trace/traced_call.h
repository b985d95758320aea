#pragma once

#include <cstdint>

#include "am/trace/trace.h"
#include "am/types/types.h"

namespace am {

// A call of the program, or a function that is called back, from now until record().
class TracedCall {
 public:
  explicit TracedCall(Trace& trace, std::uint64_t begin = ticks()) noexcept
      : trace_(trace), begin_(begin) {}
  // It has ended.
  void record(TraceKind kind, TraceName name, const TraceDetails& details) const noexcept {
    trace_.record(kind, name, begin_, ticks(), details);
  }

 private:
  Trace& trace_;
  const std::uint64_t begin_;
};

// An operation of `bytes` with the memory of `peer`, or a call there, begins now.
void trace_operation(Trace& trace, const CallPlace& place, Rank peer, std::uint64_t bytes) noexcept;

}  // namespace am
