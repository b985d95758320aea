#include <algorithm>
#include <bit>

#include "examples/image_components/answer.h"

namespace image_components {

void Answer::add(std::uint64_t area) noexcept {
  ++components;
  largest = std::max(largest, area);
  ++with_area[static_cast<std::size_t>(std::bit_width(area)) - 1];
}

namespace {

// Calls f(index) for each neighbour of the pixel at `index`.
template <class F>
void for_each_neighbour(const Question& question, std::size_t index, F&& f) {
  const auto width = static_cast<std::ptrdiff_t>(question.image.width);
  const auto height = static_cast<std::ptrdiff_t>(question.image.height);
  const auto at = static_cast<std::ptrdiff_t>(index);
  for (const std::ptrdiff_t dy : {-1, 0, 1}) {
    for (const std::ptrdiff_t dx : {-1, 0, 1}) {
      if (question.neighbours == 4 && dx != 0 && dy != 0) continue;
      const std::ptrdiff_t x = at % width + dx, y = at / width + dy;
      if (x < 0 || x >= width || y < 0 || y >= height) continue;
      f(static_cast<std::size_t>(y * width + x));
    }
  }
}

}  // namespace

Answer solve_serially(const Question& question, examples::Progress& progress) {
  const std::vector<std::uint8_t>& pixels = question.image.pixels;
  Answer answer;
  answer.labels.resize(pixels.size());
  std::vector<std::size_t> open;
  for (std::size_t first = 0; first < pixels.size(); ++first) {
    if (!question.is_white(pixels[first])) progress.step();
    if (!question.is_white(pixels[first]) || answer.labels[first] != 0) continue;
    const auto label = static_cast<Label>(answer.components + 1);
    std::uint64_t area = 0;
    open.push_back(first);
    answer.labels[first] = label;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      ++area;
      progress.step();
      for_each_neighbour(question, at, [&](std::size_t next) {
        if (!question.is_white(pixels[next]) || answer.labels[next] != 0) return;
        answer.labels[next] = label;
        open.push_back(next);
      });
    }
    answer.add(area);
  }
  return answer;
}

}  // namespace image_components
