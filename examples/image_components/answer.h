#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/image_components/image.h"
#include "examples/progress.h"

namespace image_components {

// Which pixels are black and which white, and which of the white ones touch.
struct Question {
  Image image;
  std::uint32_t threshold = 128;  // from this brightness on a pixel is white
  std::uint32_t neighbours = 4;   // or 8: also diagonal ones

  bool is_white(std::uint8_t pixel) const noexcept { return pixel >= threshold; }
};

// A pixel's component: a number from 1 on; 0 is black.
using Label = std::uint32_t;

struct Answer {
  std::vector<Label>
      labels;  // by pixel; components are numbered in the order of their first pixels
  std::uint64_t components = 0;
  std::uint64_t largest = 0;                     // pixels of the largest one
  std::array<std::uint64_t, 32> with_area = {};  // [i]: components of 2^i to 2^(i+1) - 1 pixels

  friend bool operator==(const Answer&, const Answer&) = default;

  // One more component.
  void add(std::uint64_t area) noexcept;
};

// By this process alone: a flood fill, which shares nothing with solve(). A pixel is a step.
Answer solve_serially(const Question& question, examples::Progress& progress);

// By all processes: process 0 passes the image and gets the labels, everybody the other options and
// the numbers. Returns the seconds that it takes once every process has its pixels, each of which
// is a step. Collective.
double solve(const Question& question, Answer& answer, examples::Progress& progress);

}  // namespace image_components
