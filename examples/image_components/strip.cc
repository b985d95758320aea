#include "examples/image_components/strip.h"

#include <algorithm>

namespace image_components {
namespace {

// Provisional labels, in sets of those that turn out to be one component. The least of a set is its
// root.
class Equivalences {
 public:
  Label add() {
    parent_.push_back(static_cast<Label>(parent_.size()));
    return parent_.back();
  }
  void unite(Label a, Label b) {
    const auto [low, high] = std::minmax({root(a), root(b)});
    parent_[high] = low;
  }
  // Final labels, by provisional ones: the roots are numbered in their order, from 1 on.
  std::vector<Label> numbers() {
    std::vector<Label> number(parent_.size());
    Label count = 0;
    for (Label label = 1; label < parent_.size(); ++label) {
      number[label] = parent_[label] == label ? ++count : number[root(label)];
    }
    return number;
  }

 private:
  Label root(Label label) {
    while (parent_[label] != label) label = parent_[label] = parent_[parent_[label]];
    return label;
  }

  std::vector<Label> parent_{0};  // 0 is black
};

}  // namespace

std::vector<std::uint64_t> label_strip(const Question& question, std::size_t width,
                                       std::span<const std::uint8_t> pixels,
                                       std::span<Label> labels, examples::Progress& progress) {
  Equivalences equivalences;
  for (std::size_t first = 0; first < pixels.size(); first += width) {
    const std::span<Label> row = labels.subspan(first, width);
    for (std::size_t x = 0; x < width; ++x) {
      if (!question.is_white(pixels[first + x])) {
        row[x] = 0;
      } else {
        row[x] = x > 0 && row[x - 1] != 0 ? row[x - 1] : equivalences.add();
      }
    }
    progress.step(width);
    if (first == 0) continue;
    for_each_contact(labels.subspan(first - width, width), row, question.neighbours,
                     [&](Label above, Label below) { equivalences.unite(above, below); });
  }

  const std::vector<Label> numbers = equivalences.numbers();
  std::vector<std::uint64_t> areas;
  for (Label& label : labels) {
    label = numbers[label];
    if (label == 0) continue;
    if (label > areas.size()) areas.resize(label);
    ++areas[label - 1];
  }
  return areas;
}

}  // namespace image_components
