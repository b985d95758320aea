#pragma once

#include <cstdint>

#include "am/types/types.h"

namespace am {

// How a wait climbs: spin while an answer may be a cache miss away, then give the core to another
// process, then sleep until a neighbour rings. With more processes than cores spinning only keeps
// the awaited process from running, so the climb starts at yield and soon sleeps.
class Ladder {
 public:
  enum class Step : std::uint8_t {
    kSpin,
    kYield,
    kBlock,
    kShow,  // instead of kBlock where nobody sleeps: say what is waited for, and reset()
  };

  // What there is to wait for from other nodes.
  enum class Far : std::uint8_t {
    kNothing,
    kTold,     // a descriptor wakes a sleeper
    kNotTold,  // a sleeper has to look now and then, and others may wait for that look
  };

  Ladder(WaitPolicy policy, bool oversubscribed, Far far) noexcept;

  // What to do now that one more look was in vain.
  Step next() noexcept {
    if (looks_ < spins_) {
      ++looks_;
      return Step::kSpin;
    }
    if (looks_ < yields_) {
      ++looks_;
      return Step::kYield;
    }
    return last_;
  }
  void reset() noexcept { looks_ = 0; }

  // Between two looks. The line one looks at is the line the other side is about to write: a look
  // between its arrival there and the store takes it away, and it has to travel twice more.
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }
  // After having written a line, before the first look at it: the other side has to fetch it, and
  // cannot have answered yet. (A short request and reply: 190 to 210 ns with looks from the first
  // moment on, 135 with these two pauses at both sides; more pauses only wait longer.)
  static void leave_line() noexcept {
    pause();
    pause();
  }

 private:
  std::uint32_t looks_ = 0;
  std::uint32_t spins_;   // looks before the first yield
  std::uint32_t yields_;  // looks before the first sleep
  Step last_;
};

}  // namespace am
