// What somebody meant who misspelt the name of a variable.
#include <algorithm>
#include <numeric>
#include <vector>

#include "am/job/config/config.h"

namespace am {
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
