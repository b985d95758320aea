#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// How settings are read from the environment, and refused.

namespace am {

inline constexpr std::string_view kJoined = "SPLITC_JOINED";  // the mark of am/job/config/joined.h
inline constexpr std::uint32_t kMaxSize = 1u << 24;           // a global pointer's rank: 24 bits

std::optional<std::string_view> value_of(std::string_view name);

// Whether what a variable of that name holds is not to be shown.
bool is_secret(std::string_view name) noexcept;

// Throws Error: "<name>=<value>: <cause>; <remedy>".
[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view cause,
                         std::string_view remedy);

// The number from `low` to `high` that variable `name`, which is set, must be. Throws Error if it
// is none.
std::uint64_t read_number(std::string_view name, std::uint64_t low, std::uint64_t high,
                          std::string_view remedy);

}  // namespace am
