#pragma once

#include <cstdint>

#include "am/statistics/call_place.h"
#include "am/trace/active.h"
#include "am/trace/trace.h"
#include "am/types/clock.h"
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

// A wait at `place`, for `peer` if that is a rank, has ended.
void trace_wait(Trace& trace, std::uint64_t begin, const CallPlace& place, Rank peer) noexcept;
// One that is recorded by who waits: that of a barrier, also where it need not wait.
void trace_collective_wait() noexcept;

// The time of one wait, on behalf of what `explain()` says at its end.
template <class Explain>
class TracedWait {
 public:
  explicit TracedWait(const Explain& explain) noexcept
      : explain_(explain), trace_(active_trace()), begin_(trace_ != nullptr ? ticks() : 0) {}
  ~TracedWait() {
    if (trace_ == nullptr) [[likely]]
      return;
    const auto reason = explain_();
    if (reason.collective != 0) {
      trace_collective_wait();
    } else {
      trace_wait(*trace_, begin_, {reason.call, reason.where, reason.caller}, reason.peer);
    }
  }
  TracedWait(const TracedWait&) = delete;
  TracedWait& operator=(const TracedWait&) = delete;

 private:
  const Explain& explain_;
  Trace* const trace_;
  const std::uint64_t begin_;
};

}  // namespace am
