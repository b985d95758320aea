#pragma once

#include <algorithm>
#include <cstdint>

#include "am/trace/trace.h"
#include "am/types/types.h"

namespace am {

inline std::uint64_t traced_bytes(std::uint64_t bytes) noexcept {
  return std::min(bytes, TraceEvent::kMostBytes);
}

// A call of the program, or a function that is called back, from now until record().
class TracedCall {
 public:
  explicit TracedCall(Trace& trace, std::uint64_t begin = ticks()) noexcept
      : trace_(trace), begin_(begin) {}
  // It has ended; `event` says what it was.
  void record(TraceKind kind, TraceName name, TraceEvent event) const noexcept {
    event.begin = begin_;
    event.length = ticks() - begin_;
    event.kind = static_cast<std::uint8_t>(kind);
    event.name = name;
    trace_.record(event);
  }

 private:
  Trace& trace_;
  const std::uint64_t begin_;
};

// An operation of `bytes` with the memory of `peer`, or a call there, begins now.
void trace_operation(Trace& trace, const CallPlace& place, Rank peer, std::uint64_t bytes) noexcept;

}  // namespace am
