#include "am/job/config/variables.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "am/types/types.h"

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

using schedule::kLimits;

std::string size_text(std::uint64_t bytes) {
  for (const auto& [shift, suffix] : {std::pair(30, "G"), std::pair(20, "M"), std::pair(10, "K")}) {
    const std::uint64_t units = bytes >> shift;
    if (units != 0 && units << shift == bytes) return std::to_string(units) + suffix;
  }
  return std::to_string(bytes);
}

[[noreturn]] void refuse_limits(std::string_view setting, const std::string& why) {
  std::string names;
  for (const auto& limit : kLimits) {
    names.append(limit.name).append(limit.name == kLimits.back().name ? "" : ", ");
  }
  throw Error("SPLITC_COLLECTIVES=" + std::string(setting) + ": " + why + "; write some of " +
              names + ", each with a number, such as broadcast_tree=64K,scan_chain=4, or a file " +
              "that splitc-doctor --tune has written, with its path");
}

std::string contents(std::string_view path) {
  std::ifstream file{std::string(path)};
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) refuse_limits(path, "that file cannot be read");
  return text;
}

[[noreturn]] void refuse_faults(std::string_view text, std::string_view part, const char* cause) {
  throw Error("SPLITC_FAULT=" + std::string(text) + ": " + std::string(part) + ": " + cause +
              "; write percentages, microseconds and a seed, such as "
              "drop:5,dup:2,reorder:5,delay:200,corrupt:1,seed=7");
}

constexpr std::pair<std::string_view, std::uint32_t link::FaultPlan::*> kRates[] = {
    {"drop", &link::FaultPlan::drop},
    {"dup", &link::FaultPlan::dup},
    {"reorder", &link::FaultPlan::reorder},
    {"corrupt", &link::FaultPlan::corrupt}};

void read_part(link::FaultPlan& plan, std::string_view text, std::string_view part) {
  const std::size_t middle = part.find_first_of(":=");
  if (middle == std::string_view::npos) refuse_faults(text, part, "no name and value");
  const std::string_view name = part.substr(0, middle);
  const std::string_view value = part.substr(middle + 1);
  const auto number_up_to = [&](double most, const char* cause) {
    const auto number = whole_number<double>(value);
    if (!number || !(*number >= 0 && *number <= most)) refuse_faults(text, part, cause);
    return *number;
  };
  const auto* const rate = std::ranges::find(kRates, name, [](auto& one) { return one.first; });
  if (rate != std::end(kRates)) {  // 0.5 of a hundred: 5,000 of a million
    const double percent = number_up_to(100, "no percentage from 0 to 100");
    plan.*rate->second = static_cast<std::uint32_t>(percent * 10'000);
  } else if (name == "delay") {
    const double us = number_up_to(1e6, "no number of microseconds up to 1000000");
    plan.delay_ns = static_cast<std::int64_t>(us * 1'000);
  } else if (name == "seed") {
    const auto seed = whole_number<std::uint64_t>(value);
    if (!seed) refuse_faults(text, part, "no whole number");
    plan.seed = *seed;
  } else {
    refuse_faults(text, part, "there are drop, dup, reorder, delay, corrupt and seed");
  }
}

}  // namespace

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

// --- Limits of collective calls

schedule::Limits parse_collectives(std::string_view setting) {
  const bool is_a_file = setting.find('/') != std::string_view::npos;
  const std::string read = is_a_file ? contents(setting) : std::string();
  const std::string_view text = is_a_file ? read : setting;
  schedule::Limits limits;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(",\n", at), text.size());
    const std::string_view part = text.substr(at, end - at);
    at = end + 1;
    if (part.empty()) continue;
    const std::size_t middle = std::min(part.find('='), part.size() - 1);
    const auto known = std::ranges::find(kLimits, part.substr(0, middle), &schedule::Limit::name);
    const auto value = number_of_bytes(part.substr(middle + 1));
    if (known == kLimits.end() || !value) {
      refuse_limits(setting, "\"" + std::string(part) + "\" is no limit with a number");
    }
    limits.*known->value = *value;
  }
  return limits;
}

std::string text_of(const schedule::Limits& limits) {
  std::string text;
  for (const auto& limit : kLimits) {
    text.append(text.empty() ? "" : ",").append(limit.name).append("=");
    text += size_text(limits.*limit.value);
  }
  return text;
}

// --- Faults

link::FaultPlan parse_faults(std::string_view text) {
  link::FaultPlan plan;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    read_part(plan, text, text.substr(at, end - at));
    at = end + 1;
  }
  return plan;
}

}  // namespace am
