#include "am/job/config/texts.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "am/job/config/variables.h"
#include "am/types/types.h"

namespace am {

// --- Limits of collective calls

namespace {

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

}  // namespace

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

namespace {

constexpr double kMostDelayUs = 1e6;

[[noreturn]] void refuse_faults(std::string_view text, std::string_view part, const char* cause) {
  throw Error("SPLITC_FAULT=" + std::string(text) + ": " + std::string(part) + ": " + cause +
              "; write percentages, microseconds and a seed, such as "
              "drop:5,dup:2,reorder:5,delay:200,corrupt:1,seed=7");
}

// 0.5 of a hundred: 5,000 of a million.
std::uint32_t read_percentage(std::string_view text, std::string_view part,
                              std::string_view value) {
  const auto percent = whole_number<double>(value);
  if (!percent || !(*percent >= 0 && *percent <= 100)) {
    refuse_faults(text, part, "no percentage from 0 to 100");
  }
  return static_cast<std::uint32_t>(*percent * 10'000);
}

void read_part(link::FaultPlan& plan, std::string_view text, std::string_view part) {
  const std::size_t middle = part.find_first_of(":=");
  if (middle == std::string_view::npos) refuse_faults(text, part, "no name and value");
  const std::string_view name = part.substr(0, middle);
  const std::string_view value = part.substr(middle + 1);
  if (name == "seed") {
    const auto seed = whole_number<std::uint64_t>(value);
    if (!seed) refuse_faults(text, part, "no whole number");
    plan.seed = *seed;
  } else if (name == "delay") {
    const auto us = whole_number<double>(value);
    if (!us || !(*us >= 0 && *us <= kMostDelayUs)) {
      refuse_faults(text, part, "no number of microseconds up to 1000000");
    }
    plan.delay_ns = static_cast<std::int64_t>(*us * 1'000);
  } else if (name == "drop") {
    plan.drop = read_percentage(text, part, value);
  } else if (name == "dup") {
    plan.dup = read_percentage(text, part, value);
  } else if (name == "reorder") {
    plan.reorder = read_percentage(text, part, value);
  } else if (name == "corrupt") {
    plan.corrupt = read_percentage(text, part, value);
  } else {
    refuse_faults(text, part, "there are drop, dup, reorder, delay, corrupt and seed");
  }
}

}  // namespace

link::FaultPlan parse_faults(std::string_view text) {
  link::FaultPlan plan;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    read_part(plan, text, text.substr(at, end - at));
    at = end + 1;
  }
  return plan;
}

// --- Ways

namespace {

template <class Value>
using Name = std::pair<std::string_view, Value>;

constexpr Name<LinkChoice> kLinks[] = {{"fabric", LinkChoice::kFabric},
                                       {"datagram", LinkChoice::kDatagram}};
constexpr Name<Way> kWays[] = {{"messages", Way::kMessages},
                               {"specialised", Way::kSpecialised},
                               {"datagram", Way::kDatagram},
                               {"memory", Way::kMemory}};

// "a, b or c"
template <class Value>
std::string list_of(std::span<const Name<Value>> names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list.append(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ").append(names[i].first);
  }
  return list;
}

template <class Value>
Value find(std::string_view setting, std::string_view text, const char* what,
           std::span<const Name<Value>> names) {
  for (const auto& [name, value] : names) {
    if (name == text) return value;
  }
  throw Error(std::string(setting) + "=" + std::string(text) + ": no way for " + what +
              " to travel; write " + list_of(names));
}

}  // namespace

LinkChoice parse_link(std::string_view text) {
  return find<LinkChoice>("SPLITC_LINK", text, "data", kLinks);
}

Way parse_way(std::string_view text) { return find<Way>("SPLITC_WAY", text, "accesses", kWays); }

}  // namespace am
