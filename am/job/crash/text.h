// Text that a signal handler can build and write, and what it says of a crash: why the signal came,
// and where its thread is.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "am/job/config/control.h"
#include "am/job/crash/report.h"
#include "am/types/types.h"

namespace am {

// No allocation, no lock. What does not fit is left out.
class CrashText {
 public:
  CrashText& add(std::string_view text) noexcept {
    text = text.substr(0, bytes_.size() - size_);
    for (const char one : text) bytes_[size_++] = one;
    return *this;
  }
  CrashText& add(std::uint64_t number) noexcept { return add_digits(number, 10); }
  CrashText& add_hex(std::uint64_t number) noexcept { return add("0x").add_digits(number, 16); }

  std::string_view view() const noexcept { return {bytes_.data(), size_}; }
  void clear() noexcept { size_ = 0; }

  // To standard error, as far as it goes.
  void write() const noexcept {
    for (std::string_view rest = view(); !rest.empty();) {
      const ssize_t wrote = ::write(STDERR_FILENO, rest.data(), rest.size());
      if (wrote <= 0 && errno != EINTR) return;
      if (wrote > 0) rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
  }

 private:
  CrashText& add_digits(std::uint64_t number, int base) noexcept {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  std::array<char, 8192> bytes_{};
  std::size_t size_ = 0;
};

// Adds " has crashed by signal 11 (Segmentation fault): ..." with the address and the segment that
// it lies in, or near to, if the signal is about an address. `stack` is the stack pointer of the
// thread, or 0. Safe in a signal handler.
void add_crash_cause(CrashText& text, const siginfo_t& info, std::uintptr_t stack,
                     std::span<const CrashSegment> segments) noexcept;

// Does what cannot be done in a signal handler. Call it once, before the others.
void prepare_crash_trace();

// How the network's library is named if it crashes, such as "libfabric 1.17's net on lo".
void name_network(std::string_view network) noexcept;

// The stack pointer of what a signal interrupted (`context` as below); 0: not known here.
std::uintptr_t interrupted_stack(const void* context) noexcept;

// Adds the calling thread's backtrace, beginning with the instruction that a signal interrupted
// (`context`, the third argument of its handler) or, without one, with the caller. Functions are
// named as the linker names them, if the program has symbols. `for_launcher`, if there is any and
// no process has crashed before, gets what source lines follow from; else a line with the command
// follows that prints them. Safe in a signal handler, but for a lock of the dynamic linker: a
// thread that crashes while it loads a library, as another does, may wait for it.
void add_crash_trace(CrashText& text, const void* context, CrashFrames* for_launcher,
                     Rank rank) noexcept;

}  // namespace am
