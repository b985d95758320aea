#pragma once

#include <cstddef>
#include <cstdint>

#include "am/types/clock.h"
#include "am/types/types.h"

namespace am {

// How many pauses (Backoff::pause) a process makes after it has written a cache line, before it
// polls that line for the answer.
//
// On Intel's processors a poll takes the line away from the other side before that has written it:
// a short request and reply took 190 to 210 ns with polls from the first moment on, 135 with two
// pauses before the first (Sapphire Rapids, where a pause is 45 ns). Where it is 13 ns (Emerald
// Rapids), 140 to 195 without a pause, 129 to 153 with one, 136 to 159 with two, and 198 to 235
// with 90 ns: it is the number that helps, not the time. On AMD's such a delay only waits longer:
// 104 ns without it and 134 with it (a pause is 33 ns there), 98 to 105 and 150 to 160 on Zen 3, 78
// and 99 on Zen 5. But one pause keeps the second poll from coming just when the other side has the
// line and is about to write: 107 to 111 ns instead of 120 to 139, and up to 190, and floods of
// pairs 22 instead of 28 (the median).
//
// Behind a payload, whose lines follow one another, a time helps on both: 4 KiB there and back took
// 279 ns without it and 223 with it, between distant cores 500 and 400 (AMD), 480 to 650 and 258 to
// 290 (Emerald Rapids). Others: as Intel's, unmeasured.
struct FirstLook {
  std::uint32_t after_short;
  std::uint32_t after_payload;  // of a medium message, or a long one of at least kPayload bytes
  static constexpr std::size_t kPayload = 1024;
};

// The values for this machine. The first call measures how long a pause takes, in some 10 us. Any
// thread.
const FirstLook& first_look() noexcept;

// Which way to wait next (spin, then yield, then block): spin while an answer may be a cache miss
// away, then yield the core to another process, then sleep until a neighbour rings. With more
// processes than cores spinning only keeps the awaited process from running, so this starts with
// yielding and soon sleeps. How long each step lasts: backoff.cc.
class Backoff {
 public:
  enum class Step : std::uint8_t {
    kSpin,
    kYield,
    kBlock,
    kShow,  // instead of kBlock where no thread sleeps: publish what is waited for, and reset()
  };

  // What may come from other nodes, and how a sleeper learns of it.
  enum class Far : std::uint8_t {
    kNothing,
    kWakes,   // a descriptor wakes a sleeper
    kPolled,  // a sleeper has to poll now and then, and others may wait for that poll
  };

  Backoff(WaitPolicy policy, bool oversubscribed, Far far) noexcept;

  // What to do now that one more poll has found nothing.
  Step next() noexcept {
    if (looks_ < spins_) {
      ++looks_;
      return looks_ % kLooksAtClock == 0 && is_late(looks_ == kLooksAtClock) ? last_ : Step::kSpin;
    }
    if (looks_ < yields_) {
      const bool first = looks_++ == spins_;
      return is_late(first) ? last_ : Step::kYield;
    }
    return ticks() - since_ < yielding_ ? Step::kYield : last_;
  }
  void reset() noexcept { looks_ = 0; }

  // Between two polls. The cache line that is polled is the line that the other side is about to
  // write: a load between its arrival there and the store takes the line away, and it has to
  // migrate twice more.
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }
  // After having written a line, before the first load of it: the other side has to fetch it, and
  // cannot have answered yet. How long: FirstLook.
  void leave_line(bool after_payload) const noexcept {
    const std::uint32_t pauses =
        after_payload ? first_look_.after_payload : first_look_.after_short;
    for (std::uint32_t i = 0; i < pauses; ++i) pause();
  }

 private:
  static constexpr std::uint32_t kLooksAtClock = 4096;  // spins between two of them

  // Where no thread sleeps: whether it is time to publish the wait, since the `first` of these
  // calls. On a busy machine a poll with its yield may take any time, so their number says nothing.
  bool is_late(bool first) noexcept {
    if (last_ != Step::kShow && !first) return false;
    const std::uint64_t now = ticks();
    if (first) since_ = now;
    return now - since_ > shown_after_;
  }

  FirstLook first_look_;
  std::uint64_t since_ = 0;        // the first yield, in ticks()
  std::uint64_t shown_after_ = 0;  // ticks
  std::uint64_t yielding_ = 0;     // ticks from the first yield to the first sleep, at least
  std::uint32_t looks_ = 0;
  std::uint32_t spins_;   // polls before the first yield
  std::uint32_t yields_;  // polls before the first sleep
  Step last_;
};

}  // namespace am
