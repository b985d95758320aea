#include "am/job/config/fault_text.h"

#include <algorithm>
#include <string>

#include "am/job/config/number.h"
#include "am/types/types.h"

namespace am {
namespace {

constexpr double kMostDelayUs = 1e6;

[[noreturn]] void refuse(std::string_view text, std::string_view part, const char* cause) {
  throw Error("SPLITC_FAULT=" + std::string(text) + ": " + std::string(part) + ": " + cause +
              "; write percentages, microseconds and a seed, such as "
              "drop:5,dup:2,reorder:5,delay:200,corrupt:1,seed=7");
}

// 0.5 of a hundred: 5,000 of a million.
std::uint32_t read_percentage(std::string_view text, std::string_view part,
                              std::string_view value) {
  const auto percent = whole_number<double>(value);
  if (!percent || !(*percent >= 0 && *percent <= 100)) {
    refuse(text, part, "no percentage from 0 to 100");
  }
  return static_cast<std::uint32_t>(*percent * 10'000);
}

void read_part(link::FaultPlan& plan, std::string_view text, std::string_view part) {
  const std::size_t middle = part.find_first_of(":=");
  if (middle == std::string_view::npos) refuse(text, part, "no name and value");
  const std::string_view name = part.substr(0, middle);
  const std::string_view value = part.substr(middle + 1);
  if (name == "seed") {
    const auto seed = whole_number<std::uint64_t>(value);
    if (!seed) refuse(text, part, "no whole number");
    plan.seed = *seed;
  } else if (name == "delay") {
    const auto us = whole_number<double>(value);
    if (!us || !(*us >= 0 && *us <= kMostDelayUs)) {
      refuse(text, part, "no number of microseconds up to 1000000");
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
    refuse(text, part, "there are drop, dup, reorder, delay, corrupt and seed");
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

}  // namespace am
