// Sparse: y += A x, where A has a row for each point of a periodic square, with an entry for each
// point of the star around it. The columns are scattered, as the bits of their numbers are
// reversed. Rows and elements are in blocks. What a process needs of others it has as ghosts, whose
// values the halo of examples/conjugate_gradient brings.

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "examples/conjugate_gradient/halo.h"
#include "examples/prk/kernel.h"

namespace prk {
namespace {

using namespace splitc;
namespace cg = conjugate_gradient;

struct Square {
  std::uint32_t bits;  // 2^bits points along each dimension
  std::uint32_t radius;

  std::uint32_t side() const noexcept { return 1u << bits; }
  std::uint32_t points() const noexcept { return 1u << 2 * bits; }
  std::size_t star() const noexcept { return 4 * std::size_t{radius} + 1; }
  // The column of a point: its number with the bits in reverse.
  std::uint32_t column(std::uint32_t x, std::uint32_t y) const noexcept {
    const std::uint32_t point = (x & (side() - 1)) | (y & (side() - 1)) << bits;
    std::uint32_t reverse = 0;
    for (std::uint32_t bit = 0; bit < 2 * bits; ++bit)
      reverse |= (point >> bit & 1) << (2 * bits - 1 - bit);
    return reverse;
  }
};

// The entries of this process's rows. That of column c is 1 / (c + 1).
std::vector<cg::Entry> rows_of(const Square& square, const distribution& blocks) {
  std::vector<cg::Entry> entries;
  entries.reserve(blocks.size_on(my_proc()) * square.star());
  for (std::size_t l = 0; l < blocks.size_on(my_proc()); ++l) {
    const auto row = static_cast<std::uint32_t>(blocks.global(my_proc(), l));
    const std::uint32_t x = row & (square.side() - 1), y = row >> square.bits;
    const auto first = static_cast<std::ptrdiff_t>(entries.size());
    const auto add = [&](std::uint32_t column) {
      entries.push_back({row, column, 1.0 / (static_cast<double>(column) + 1)});
    };
    add(square.column(x, y));
    for (std::uint32_t k = 1; k <= square.radius; ++k) {
      for (const std::uint32_t away : {k, 0 - k}) {
        add(square.column(x + away, y));
        add(square.column(x, y + away));
      }
    }
    std::sort(entries.begin() + first, entries.end(),
              [](const cg::Entry& a, const cg::Entry& b) { return a.column < b.column; });
  }
  return entries;
}

class Sparse : public Kernel {
 public:
  Sparse(const Square& square, const cg::Version& version)
      : Sparse(square, version, cg::blocks_of(square.points())) {}

  void iterate() override {
    const std::span<double> own = vector_.own();
    for (std::size_t i = 0; i < own.size(); ++i) own[i] += first_ + static_cast<double>(i);
    const auto add = [sums = sum_.data()](std::uint32_t row, double x) { sums[row] += x; };
    halo_->start();
    rows_.multiply_inner(vector_.local(), add);
    halo_->finish();
    rows_.multiply_outer(vector_.local(), add);
    halo_->release();
    barrier();  // nobody reads the elements any more, and all have released their ghosts
  }
  double found(std::uint32_t) override { return std::accumulate(sum_.begin(), sum_.end(), 0.0); }

 private:
  Sparse(const Square& square, const cg::Version& version, const distribution& blocks)
      : Sparse(version, blocks, rows_of(square, blocks)) {}
  Sparse(const cg::Version& version, const distribution& blocks,
         const std::vector<cg::Entry>& entries)
      : plan_(cg::inspect(entries, blocks)),
        rows_(entries, blocks, plan_),
        vector_(blocks, plan_),
        halo_(version.make(vector_, plan_)),
        first_(static_cast<double>(blocks.global(my_proc(), 0)) + 1),
        sum_(vector_.own().size()) {}

  cg::Plan plan_;
  cg::Rows rows_;
  cg::Vector vector_;
  std::unique_ptr<cg::Halo> halo_;
  double first_;  // what is added to the first element
  std::vector<double> sum_;
};

}  // namespace

int sparse(Args args) {
  Runs runs;
  Square square{.bits = 8, .radius = 4};
  std::vector<std::string> names;
  std::vector<Way> ways;
  examples::CommandLine line("A sparse matrix with scattered columns, by a vector.", "prk sparse");
  line.option("--bits", square.bits, "of the number of points along each dimension").range(0u, 15u);
  line.option("--radius", square.radius, "of the star around a point").range(0u, 1000u);
  for (const cg::Version& version : cg::versions()) {
    names.emplace_back(version.name);
    ways.push_back({names.back(), [&] { return std::make_unique<Sparse>(square, version); }});
  }
  add_options(line, runs, names);
  if (!line.parse(args)) return 0;
  if (square.side() < 2 * square.radius + 1) {
    throw std::runtime_error("prk sparse: a star of --radius " + std::to_string(square.radius) +
                             " would meet itself on 2^" + std::to_string(square.bits) +
                             " points; take more --bits");
  }
  const auto entries = static_cast<double>(square.star() * square.points());
  return measure(runs,
                 {.title = "sparse: " + std::to_string(square.points()) + " rows of " +
                           std::to_string(square.star()) + " entries",
                  .verified = "the sum of the product",
                  .expected = [=](double times) { return 0.5 * entries * times * (times + 1); },
                  .unit = "MFlop",
                  .work = 2 * entries / 1e6},
                 ways);
}

}  // namespace prk
