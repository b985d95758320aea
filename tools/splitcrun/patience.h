// How long splitcrun waits, when all processes have ended, for whoever reads its output: without
// limit, as any program does. But once somebody has asked for the end (a signal, --timeout), only
// while that reader goes on taking something; and not at all when it is asked again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace am::launcher {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kLimit = std::chrono::seconds(1);  // without a byte taken

  // Somebody asks for the end. `exit_code` is splitcrun's if output is lost by it; that of the
  // first who asks counts.
  void hurry(int exit_code) {
    none_ = waiting_ && exit_code_;
    if (!exit_code_) exit_code_ = exit_code;
    taken_at_ = Clock::now();
  }

  // All processes have ended: the waiting begins.
  void begin() {
    waiting_ = true;
    taken_at_ = Clock::now();
  }

  // Call with all bytes that the reader has taken, now and then. True: give up.
  bool is_over(std::uint64_t bytes_taken) {
    const auto now = Clock::now();
    if (bytes_taken != taken_) {
      taken_ = bytes_taken;
      taken_at_ = now;
    }
    return exit_code_ && (none_ || now >= taken_at_ + kLimit);
  }

  // of the next call; none: no limit
  std::optional<Clock::time_point> deadline() const {
    if (!waiting_ || !exit_code_) return std::nullopt;
    return none_ ? taken_at_ : taken_at_ + kLimit;
  }

  int exit_code() const { return *exit_code_; }  // once is_over()

 private:
  std::optional<int> exit_code_;  // somebody is in a hurry
  bool waiting_ = false;
  bool none_ = false;
  std::uint64_t taken_ = 0;
  Clock::time_point taken_at_{};
};

}  // namespace am::launcher
