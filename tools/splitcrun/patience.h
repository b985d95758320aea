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
  void hurry(int exit_code);
  // All processes have ended: the waiting begins.
  void begin();
  // Call with all bytes that the reader has taken, now and then. True: give up.
  bool is_over(std::uint64_t bytes_taken);

  std::optional<Clock::time_point> deadline() const;  // of the next call; none: no limit
  int exit_code() const { return *exit_code_; }       // once is_over()

 private:
  std::optional<int> exit_code_;  // somebody is in a hurry
  bool waiting_ = false;
  bool none_ = false;
  std::uint64_t taken_ = 0;
  Clock::time_point taken_at_{};
};

}  // namespace am::launcher
