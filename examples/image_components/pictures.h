#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "examples/image_components/image.h"

namespace image_components {

struct Drawing {
  std::size_t size = 512;      // pixels of each side
  std::uint32_t percent = 59;  // of noise that is white: near 59, one component begins to span all
  std::uint64_t seed = 1;
};

// Black-and-white images of one kind. The first nine are those with which D. A. Bader and J. JáJá
// measured connected components in Split-C (Parallel Algorithms for Image Histogramming and
// Connected Components with an Experimental Study, 1996), drawn after their descriptions.
struct Kind {
  std::string_view name;
  bool (*is_white)(const Drawing& drawing, std::size_t x, std::size_t y);
};
std::span<const Kind> kinds();

Image draw(const Kind& kind, const Drawing& drawing);

}  // namespace image_components
