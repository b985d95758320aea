#include "tools/splitcrun/patience.h"

namespace am::launcher {

void Patience::hurry(int exit_code) {
  none_ = waiting_ && exit_code_;
  if (!exit_code_) exit_code_ = exit_code;
  taken_at_ = Clock::now();
}

void Patience::begin() {
  waiting_ = true;
  taken_at_ = Clock::now();
}

bool Patience::is_over(std::uint64_t bytes_taken) {
  const auto now = Clock::now();
  if (bytes_taken != taken_) {
    taken_ = bytes_taken;
    taken_at_ = now;
  }
  return exit_code_ && (none_ || now >= taken_at_ + kLimit);
}

std::optional<Patience::Clock::time_point> Patience::deadline() const {
  if (!waiting_ || !exit_code_) return std::nullopt;
  return none_ ? taken_at_ : taken_at_ + kLimit;
}

}  // namespace am::launcher
