#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace image_components {

// The brightness of pixels from 0 to 255, row behind row from the top.
struct Image {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels = {};
};

inline constexpr std::size_t kMaxPixels = std::size_t{1} << 28;

}  // namespace image_components
