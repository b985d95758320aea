// Versions of libfabric, as it says them itself: without the third number.
#pragma once

#include <cstdint>
#include <string>

namespace am::doctor {

constexpr std::uint32_t version_of(std::uint32_t major, std::uint32_t minor) {
  return major << 16 | minor;
}

std::string version_text(std::uint32_t version);  // "1.17"

}  // namespace am::doctor
