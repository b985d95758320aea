#include "am/job/config/collective_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "am/job/config/number.h"
#include "am/types/types.h"

namespace am {
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

}  // namespace am
