#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace am {

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

}  // namespace am
