#include "am/job/config/variables.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "am/job/config/config.h"
#include "am/types/types.h"

namespace am {

std::optional<std::string_view> value_of(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string_view>(value);
}

bool is_secret(std::string_view name) noexcept {
  return name.find("SECRET") != std::string_view::npos;
}

void refuse(std::string_view name, std::string_view value, std::string_view cause,
            std::string_view remedy) {
  std::string text(name);
  text.append("=").append(value).append(": ").append(cause).append("; ").append(remedy);
  throw Error(text);
}

std::uint64_t read_number(std::string_view name, std::uint64_t low, std::uint64_t high,
                          std::string_view remedy) {
  const std::string_view text = *value_of(name);
  const auto value = whole_number<std::uint64_t>(text);
  if (!value || *value < low || *value > high) {
    refuse(name, text, "not a number from " + std::to_string(low) + " to " + std::to_string(high),
           remedy);
  }
  return *value;
}

// --- What somebody meant who misspelt a name

namespace {

// Levenshtein: letters to add, drop or change to make one into the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t change = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, change});
    }
  }
  return row.back();
}

}  // namespace

std::string_view closest_setting(std::string_view name) {
  // Half of its own letters wrong, or more than three: a guess would be noise.
  const std::size_t letters = name.size() - std::min(name.size(), kSettingPrefix.size());
  std::string_view best;
  std::size_t best_distance = std::min<std::size_t>(letters / 2, 3) + 1;
  for (const Setting& setting : settings()) {
    const std::size_t distance = edit_distance(name, setting.name);
    if (setting.internal || distance >= best_distance) continue;
    best = setting.name;
    best_distance = distance;
  }
  return best;
}

}  // namespace am
