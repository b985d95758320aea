#pragma once

#include <cstdint>

#include "am/statistics/call_place.h"

namespace am {

// The time of one wait, for CallSites. Every wait is timed from its kShort-th look on, or from when
// it gives up the core; before that only one of the sample is (WaitSample).
class WaitTime {
 public:
  static constexpr std::uint64_t kShort = 32;  // looks, of 10 to 40 ns

  WaitTime() : sites_(active_call_sites()) {
    if (sites_ != nullptr) [[unlikely]]
      begin();
  }
  WaitTime(const WaitTime&) = delete;
  WaitTime& operator=(const WaitTime&) = delete;

  // The wait has looked once more, and goes on.
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
  bool counts() const noexcept { return sites_ != nullptr; }
  // The wait ends, in which `needs` was missing.
  void count(const CallPlace& place, const char* needs);

 private:
  void begin();
  void end_short_part() noexcept;
  // Of the wait, which ends: what it adds to the sum.
  std::int64_t end() noexcept;

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  CallSites* const sites_;             // nullptr: nobody wants to know
  std::uint64_t looks_left_ = kNever;  // in the short part
  std::uint32_t stands_for_ = 0;       // so many waits; 0: this part is not timed
  std::int64_t begin_ns_ = 0;          // of this part, if it is
  std::int64_t short_part_ns_ = 0;     // what the short part adds to the sum
};

// A wait that is counted on behalf of what `explain()` says at its end.
template <class Explain>
class TimedWait : public WaitTime {
 public:
  explicit TimedWait(const Explain& explain) : explain_(explain) {}
  ~TimedWait() {
    if (!counts()) [[likely]]
      return;
    const auto reason = explain_();
    count({reason.call, reason.where, reason.caller}, reason.needs);
  }

 private:
  const Explain& explain_;
};

}  // namespace am
