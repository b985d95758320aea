#include "examples/pipeline/stage.h"

#include <algorithm>
#include <functional>

namespace pipeline {
namespace {

using namespace splitc;

// The logistic map, where it is chaotic, at a rate of its own for every stage.
void pass_through(std::uint32_t stage, std::span<const double> from, double* to) {
  const double rate = 3.6 + 0.3 * examples::fraction(stage);
  std::ranges::transform(from, to, [rate](double x) { return rate * x * (1 - x); });
}

std::vector<double> first_block(std::size_t points) {
  std::vector<double> block(points);
  for (std::size_t i = 0; i < points; ++i) block[i] = examples::fraction(i);
  return block;
}

void make_next_block(std::span<double> block) { pass_through(~0u, block, block.data()); }

void add(std::span<double> sum, std::span<const double> block) {
  std::ranges::transform(sum, block, sum.begin(), std::plus());
}

}  // namespace

Stage::Stage(std::size_t points)
    : points_(points), inputs_(procs(), 2 * points), outputs_(2 * points) {
  if (is_first()) source_ = first_block(points);
  if (is_last()) sum_.resize(points);
}

void Stage::work(unsigned turn) {
  if (is_first()) make_next_block(source_);
  const std::span<const double> from = is_first() ? std::span(source_) : input(turn);
  pass_through(my_proc(), from, output(turn).data());
  if (is_last()) add(sum_, output(turn));
}

std::uint64_t Stage::checksum() const { return examples::checksum(sum_); }

std::uint64_t serial_checksum(std::size_t points, std::uint32_t blocks, std::uint32_t stages) {
  std::vector<double> source = first_block(points);
  std::vector<double> sum(points), block(points);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    make_next_block(source);
    block = source;
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      pass_through(stage, block, block.data());
    }
    add(sum, block);
  }
  return examples::checksum(sum);
}

}  // namespace pipeline
