// am/observe: what can be seen of a process while it runs. Calls note what they do: operations with
// note_operation(), waits with an ObservedWait, messages with am/core/traced.h, and puts on
// channels in ChannelSenders::put_noted(), near ones in the trace alone. Their readers are the
// statistics (CallSites), the trace (Trace), and the Activity that other processes read: the report
// on a job that stands still, `splitcrun --top` and the report of a crash. The room uses am/types
// and shmem only.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/types/types.h"

namespace am {

class CallSites;
class Trace;

namespace detail {
inline constinit std::atomic<CallSites*> active_call_sites = nullptr;
inline constinit std::atomic<Trace*> active_trace = nullptr;

// A number of each CallSites and each Trace, by which a thread knows whose what it keeps is.
// From 1.
inline std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}
}  // namespace detail

// The CallSites that count; nullptr: no statistics are requested. A load.
inline CallSites* active_call_sites() noexcept {
  return detail::active_call_sites.load(std::memory_order_relaxed);
}
// The trace that this process records; nullptr: no trace is requested. A load.
inline Trace* active_trace() noexcept {
  return detail::active_trace.load(std::memory_order_relaxed);
}
// Whether there is one of them.
inline bool is_observed() noexcept {
  return active_call_sites() != nullptr || active_trace() != nullptr;
}

// What a sender needs whose receiver is behind.
inline constexpr const char* kNeedsCredit = "a credit";

// Whose memory an operation accesses: that of another node, of this one, or of this one where that
// is not watched (SPLITC_WATCH_NEAR).
enum class Distance { kFar, kNear, kUnwatched };

// An operation of `call` with `bytes` of memory of `peer`, or a message or a call to it, begins
// now: statistics count it, unless it is kUnwatched, and the trace marks the moment.
void note_operation(const Call& call, Rank peer, std::uint64_t bytes, Distance distance);

}  // namespace am
