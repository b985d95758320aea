// How settings are read from the environment, and refused.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "am/collective/limits.h"
#include "am/job/config/config.h"
#include "am/link/datagram/faults.h"

namespace am {

inline constexpr std::string_view kJoined = "SPLITC_JOINED";  // the mark of am/job/config/config.h
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

// All of `text` as a number; nothing if there is anything else in it.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// 65536, 64K, 256m, 1G; anything beyond 64 bits is no number.
inline std::optional<std::uint64_t> number_of_bytes(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kSuffixes = "KMG";
  const std::size_t suffix = kSuffixes.find(static_cast<char>(text.back() & ~0x20));
  if (suffix == std::string_view::npos) return whole_number<std::uint64_t>(text);
  text.remove_suffix(1);
  const int shift = 10 * (static_cast<int>(suffix) + 1);
  const auto value = whole_number<std::uint64_t>(text);
  if (!value || *value > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
  return *value << shift;
}

// The values of variables that have a syntax of their own. Each function throws Error for a value
// that has none of its meanings: a sentence that names the part that is wrong, and says what there
// is.

// The value of SPLITC_COLLECTIVES: names of limits and sizes, with commas or ends of lines between
// them, such as "broadcast_tree=64K,scan_chain=4", of which any may be missing; or the name of a
// file of these, with a / in it.
schedule::Limits parse_collectives(std::string_view text);
// The text that parse_collectives() makes these limits of, with all of them.
std::string text_of(const schedule::Limits& limits);

// The value of SPLITC_FAULT: parts with commas between them, each a name and a value behind a colon
// or an equals sign, such as "drop:5,dup:2,reorder:5,delay:200,corrupt:1,seed=7". drop, dup,
// reorder and corrupt are percentages, delay is in microseconds.
link::FaultPlan parse_faults(std::string_view text);

}  // namespace am
