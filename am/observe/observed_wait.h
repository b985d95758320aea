#pragma once

#include <cstdint>

#include "am/observe/activity.h"
#include "am/observe/observers.h"

namespace am {

// One wait, for the statistics and the trace. A trace has the time of each. Statistics have the
// time of each from its kShort-th poll on, or from when it yields the core; of shorter ones only
// that of a sample (WaitSample).
class WaitTime {
 public:
  static constexpr std::uint64_t kShort = 32;  // polls, of 10 to 40 ns

  WaitTime() : sites_(active_call_sites()), trace_(active_trace()) {
    if (is_observed()) [[unlikely]]
      begin();
  }
  WaitTime(const WaitTime&) = delete;
  WaitTime& operator=(const WaitTime&) = delete;

  // The wait has polled once more, and goes on.
  void looked() noexcept {
    if (--looks_left_ == 0) [[unlikely]]
      end_short_part();
  }
  // The wait goes on and gives up the core meanwhile.
  void yields() noexcept {
    if (looks_left_ <= kShort) [[unlikely]]
      end_short_part();
  }

 protected:
  bool is_observed() const noexcept { return sites_ != nullptr || trace_ != nullptr; }
  // The wait ends.
  void note(const Reason& reason);

 private:
  void begin();
  void end_short_part() noexcept;
  // Ends the wait, and returns what it adds to the sum.
  std::int64_t end() noexcept;

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  CallSites* const sites_;             // nullptr: no statistics are requested
  Trace* const trace_;                 // likewise
  std::uint64_t looks_left_ = kNever;  // in the short part
  std::uint32_t stands_for_ = 0;       // so many waits; 0: this part is not timed
  std::int64_t begin_ns_ = 0;          // of this part, if it is
  std::int64_t short_part_ns_ = 0;     // what the short part adds to the sum
  std::uint64_t begin_ticks_ = 0;      // of the wait, if there is a trace
};

// A wait on behalf of what `explain()` says at its end, also if an exception ends it. (What others
// see of a wait while it lasts is a ShownWait.)
template <class Explain>
class ObservedWait : public WaitTime {
 public:
  explicit ObservedWait(const Explain& explain) : explain_(explain) {}
  ~ObservedWait() {
    if (!is_observed()) [[likely]]
      return;
    note(explain_());
  }

 private:
  const Explain& explain_;
};

}  // namespace am
