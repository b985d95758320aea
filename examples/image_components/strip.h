#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/image_components/answer.h"
#include "examples/progress.h"

namespace image_components {

// Labels the white pixels of some rows of an image, as if there were no others: components get the
// numbers from 1 on in the order of their first pixels. Returns their areas. A pixel is a step.
//
// By two passes with a union-find in between (A. Rosenfeld, J. L. Pfaltz, Sequential operations in
// digital picture processing, 1966).
std::vector<std::uint64_t> label_strip(const Question& question, std::size_t width,
                                       std::span<const std::uint8_t> pixels,
                                       std::span<Label> labels, examples::Progress& progress);

// Calls f(upper, lower) for white pixels of two rows that touch, the second below the first.
template <class F>
void for_each_contact(std::span<const Label> upper, std::span<const Label> lower,
                      std::uint32_t neighbours, F&& f) {
  const std::size_t reach = neighbours == 8 ? 1 : 0;
  for (std::size_t x = 0; x < lower.size(); ++x) {
    if (lower[x] == 0) continue;
    const std::size_t begin = x < reach ? 0 : x - reach;
    for (std::size_t above = begin; above <= x + reach && above < upper.size(); ++above) {
      if (upper[above] != 0) f(upper[above], lower[x]);
    }
  }
}

}  // namespace image_components
