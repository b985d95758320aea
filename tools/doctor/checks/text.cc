#include "tools/doctor/checks/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "tools/doctor/checks/facts.h"
#include "tools/number_ranges.h"

namespace am::doctor {

std::string bytes_text(std::uint64_t bytes) {
  if (bytes == kUnlimited) return "unlimited";
  constexpr std::array<const char*, 5> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 64> text{};
  const bool whole = value >= 100 || value == static_cast<double>(static_cast<int>(value));
  std::snprintf(text.data(), text.size(), whole ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string count_text(std::uint64_t number, const std::string& one, const std::string& several) {
  return std::to_string(number) + " " + (number == 1 ? one : several);
}

std::string ranges_text(std::span<const int> numbers) {
  std::vector<int> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  return number_ranges(sorted);
}

std::string list_text(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

}  // namespace am::doctor
