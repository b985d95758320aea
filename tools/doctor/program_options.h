// The command lines of splitc-doctor and splitc-info.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>

namespace am::doctor {

// The command line makes no sense: a sentence.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr int kExitUsage = 3;

struct Options {
  bool json = false;
  bool all = false;
  bool tune = false;
  std::uint32_t processes = 0;  // 0: not said
  std::uint32_t nodes = 0;      // 0: not said
};

// None when help or the version was asked for, and printed. Throw UsageError.
std::optional<Options> parse_doctor_options(int argc, char** argv);
std::optional<Options> parse_info_options(int argc, char** argv);

// The exit code of `program`: what `work` returns, or, when it throws, which is said on standard
// error, kExitUsage for a UsageError and 2 for anything else.
int run_program(const char* program, const std::function<int()>& work);

}  // namespace am::doctor
