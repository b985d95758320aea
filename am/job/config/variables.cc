#include "am/job/config/variables.h"

#include <cstdlib>
#include <string>

#include "am/job/config/number.h"
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

}  // namespace am
