#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "examples/containers/disjoint_sets.h"
#include "examples/graph/collect.h"
#include "examples/image_components/answer.h"
#include "examples/image_components/strip.h"
#include "splitc/splitc.h"

// Each process has a strip of rows. It labels that alone, and its labels are made different from
// those of others by counting on from where the process before ends. Then labels that touch across
// the border of two strips are united in a union-find over all processes, and every label becomes
// the least one of its set.

namespace image_components {
namespace {

using namespace splitc;
using containers::disjoint_sets;

// The image and its labels, over all processes: as many rows for each, one block.
class Strips {
 public:
  Strips(std::size_t width, std::size_t height)
      : width_(width),
        pixels_(width * height, block_cyclic(layout::parts_of(height, procs()) * width)),
        labels_(pixels_.size(), block_cyclic(pixels_.block())) {}

  std::size_t width() const noexcept { return width_; }
  std::span<std::uint8_t> pixels() const noexcept { return pixels_.mine(); }
  std::span<Label> labels() const noexcept { return labels_.mine(); }
  std::vector<Label> all_labels() const { return examples::collect(labels_); }

  void deal(std::span<const std::uint8_t> all) {
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      bulk_write(pixels_.on(proc), all.first(pixels_.size_on(proc)));
      all = all.subspan(pixels_.size_on(proc));
    }
  }
  // The row above the first one here; nothing if there is none.
  std::vector<Label> row_above() const {
    if (my_proc() == 0 || labels().empty()) return {};
    std::vector<Label> row(width_);
    bulk_read(std::span(row), labels_.pointer(labels_.global(my_proc(), 0) - width_));
    return row;
  }

 private:
  std::size_t width_;
  spread_array<std::uint8_t> pixels_;
  spread_array<Label> labels_;
};

// Calls unite for labels that touch across the border to the strip above.
void unite_across_border(const Strips& strips, std::uint32_t neighbours, disjoint_sets& sets) {
  const std::vector<Label> above = strips.row_above();
  if (above.empty()) return;
  std::vector<disjoint_sets::Pair> pairs;
  for_each_contact(above, strips.labels().first(strips.width()), neighbours,
                   [&](Label upper, Label lower) {
                     // Along the border of two large components all contacts are the same.
                     if (!pairs.empty() && pairs.back().a == upper && pairs.back().b == lower)
                       return;
                     pairs.push_back({upper, lower});
                   });
  sets.unite(pairs);
}

// Adds up the areas of components that several processes have parts of: `names` has the component
// of each of mine. Collective.
void count(std::span<const std::uint64_t> areas, std::span<const disjoint_sets::Id> names,
           std::size_t labels, Answer& answer) {
  const spread_array<std::uint64_t> total(labels);
  for (std::size_t i = 0; i < areas.size(); ++i) atomic_add(total.pointer(names[i]), areas[i]);
  quiesce();
  Answer mine;
  for (const std::uint64_t area : total.mine()) {
    if (area != 0) mine.add(area);
  }
  answer.components = all_reduce(mine.components, std::plus());
  answer.largest = all_reduce(mine.largest, maximum());
  all_reduce(std::span<std::uint64_t>(mine.with_area), std::span<std::uint64_t>(answer.with_area),
             std::plus());
}

// What is left of the numbers of labels has gaps: without them.
void close_gaps(std::vector<Label>& labels) {
  std::vector<Label> number(labels.empty() ? 0 : std::ranges::max(labels) + std::size_t{1});
  Label count = 0;
  for (Label& label : labels) {
    if (label != 0 && number[label] == 0) number[label] = ++count;
    if (label != 0) label = number[label];
  }
}

}  // namespace

double solve(const Question& question, Answer& answer, examples::Progress& progress) {
  const std::size_t width = all_bcast(question.image.width);
  const std::size_t height = all_bcast(question.image.height);
  Strips strips(width, height);
  on_one([&] { strips.deal(question.image.pixels); });
  barrier();

  const double start = get_seconds();
  const auto areas = label_strip(question, width, strips.pixels(), strips.labels(), progress);
  const std::size_t before = all_exscan(areas.size(), std::plus(), 0);
  const std::size_t all = 1 + all_reduce(areas.size(), std::plus());  // and black
  for (Label& label : strips.labels()) {
    if (label != 0) label += static_cast<Label>(before);
  }
  disjoint_sets sets(all);
  barrier();  // the labels are final, as far as a strip goes
  unite_across_border(strips, question.neighbours, sets);
  barrier();  // everything is united, and no row is being read

  std::vector<disjoint_sets::Id> names(areas.size());
  std::iota(names.begin(), names.end(), before + 1);
  names = sets.find(names);
  for (Label& label : strips.labels()) {
    if (label != 0) label = static_cast<Label>(names[label - before - 1]);
  }
  count(areas, names, all, answer);
  const double seconds = get_seconds() - start;

  on_one([&] {
    answer.labels = strips.all_labels();
    close_gaps(answer.labels);
  });
  return all_reduce(seconds, maximum());
}

}  // namespace image_components
