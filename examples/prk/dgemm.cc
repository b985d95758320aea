// DGEMM: C += A B, dense, with the same tiles of all three. SUMMA: panels of a few columns of A and
// rows of B follow one another; every process of a row of tiles needs its part of the same panel of
// A, and every one of a column that of B. (R. van de Geijn, J. Watts, 1997.)
//
// Every number of A and of B is that of its column, so that the sum of C is known.

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "examples/matmul3d/kernel.h"
#include "examples/prk/kernel.h"

namespace prk {
namespace {

using namespace splitc;
using matmul3d::Operand;

// The matrices, by rows in each tile.
class Dgemm : public Kernel {
 public:
  Dgemm(std::size_t order, std::size_t panel)
      : panel_(panel),
        order_(order),
        tiles_(order, order),
        tile_(tiles_.of(my_proc())),
        a_(procs(), largest_tile()),
        b_(procs(), largest_tile()),
        c_(tile_.x.size() * tile_.y.size()) {
    double *a = a_.mine().data(), *b = b_.mine().data();
    for (std::size_t i = 0; i < tile_.y.size(); ++i) {
      for (std::size_t j = 0; j < tile_.x.size(); ++j) {
        *a++ = *b++ = static_cast<double>(tile_.x.begin + j);
      }
    }
    barrier();
  }

  void iterate() override {
    Panel panel = panel_from(0);
    start(panel, 0);
    for (unsigned turn = 0; panel.size() > 0; turn ^= 1) {
      finish(turn);
      const Panel next = panel_from(panel.depth.end);
      if (next.size() > 0) start(next, turn ^ 1);
      multiply(panel, turn);
      panel = next;
    }
  }
  double found(std::uint32_t) override { return std::accumulate(c_.begin(), c_.end(), 0.0); }

 protected:
  // Columns of A, and rows of B, that lie in one column, and in one row, of tiles.
  struct Panel {
    Range depth;
    std::uint32_t column, row;
    std::size_t size() const noexcept { return depth.size(); }
  };
  // Makes this process's part of a panel available as operands `a` and `b` of a turn.
  virtual void start(const Panel& panel, unsigned turn) = 0;
  virtual void finish(unsigned turn) = 0;

  // The parts of a panel, at their owners: numbers that are so many apart from row to row.
  struct Part {
    global_ptr<double> first;
    std::size_t rows, columns, stride;
  };
  Part part_of_a(const Panel& panel) const {
    const Range columns = tiles_.columns(panel.column);
    const global_ptr<double> tile = a_.on(tiles_.proc(panel.column, tiles_.y_of(my_proc())));
    return {tile + static_cast<std::ptrdiff_t>(panel.depth.begin - columns.begin), tile_.y.size(),
            panel.size(), columns.size()};
  }
  Part part_of_b(const Panel& panel) const {
    const std::size_t row = panel.depth.begin - tiles_.rows(panel.row).begin;
    const global_ptr<double> tile = b_.on(tiles_.proc(tiles_.x_of(my_proc()), panel.row));
    return {tile + static_cast<std::ptrdiff_t>(row * tile_.x.size()), panel.size(), tile_.x.size(),
            tile_.x.size()};
  }
  const Tiles& tiles() const noexcept { return tiles_; }
  std::size_t width() const noexcept { return panel_; }
  Operand& a(unsigned turn) noexcept { return operand_a_[turn]; }
  Operand& b(unsigned turn) noexcept { return operand_b_[turn]; }

 private:
  std::size_t largest_tile() const {
    return ((order_ + tiles_.across() - 1) / tiles_.across()) *
           ((order_ + tiles_.down() - 1) / tiles_.down());
  }
  Panel panel_from(std::size_t begin) const {
    if (begin == order_) return {{begin, begin}, 0, 0};
    std::uint32_t column = 0, row = 0;
    while (tiles_.columns(column).end <= begin) ++column;
    while (tiles_.rows(row).end <= begin) ++row;
    const std::size_t end =
        std::min({begin + panel_, tiles_.columns(column).end, tiles_.rows(row).end});
    return {{begin, end}, column, row};
  }
  // Polls now and then, so that the requests of others are served meanwhile.
  void multiply(const Panel& panel, unsigned turn) {
    constexpr std::size_t kRows = 64;
    const Operand &a = operand_a_[turn], &b = operand_b_[turn];
    for (std::size_t row = 0; row < tile_.y.size(); row += kRows) {
      matmul3d::add_product({a.numbers + row * a.stride, a.stride}, b,
                            std::min(kRows, tile_.y.size() - row), panel.size(), tile_.x.size(),
                            c_.data() + row * tile_.x.size());
      poll();
    }
  }

  std::size_t panel_, order_;
  Tiles tiles_;
  Tile tile_;
  spread_array<double> a_, b_;
  std::vector<double> c_;
  Operand operand_a_[2]{}, operand_b_[2]{};
};

// Each process gets its parts of the next panel while it multiplies. Those of its own node it reads
// where they are.
class DgemmGets : public Dgemm {
 public:
  using Dgemm::Dgemm;

 protected:
  void start(const Panel& panel, unsigned turn) override {
    a(turn) = operand(part_of_a(panel), copies_[turn].a);
    b(turn) = operand(part_of_b(panel), copies_[turn].b);
  }
  void finish(unsigned) override { sync(); }

 private:
  static Operand operand(const Part& part, std::vector<double>& copy) {
    if (is_near(part.first.proc())) return {tolocal(part.first), part.stride};
    copy.resize(part.rows * part.columns);
    get_strided(copy, part.first,
                {.run = part.columns,
                 .rows = static_cast<std::uint32_t>(part.rows),
                 .row_stride = part.stride});
    return {copy.data(), part.columns};
  }

  struct Copies {
    std::vector<double> a, b;
  };
  Copies copies_[2];  // by turn
};

// The owners broadcast them to their row, and to their column.
class DgemmBroadcasts : public Dgemm {
 public:
  DgemmBroadcasts(std::size_t order, std::size_t panel)
      : Dgemm(order, panel),
        row_(team::world().split(tiles().y_of(my_proc()))),
        column_(team::world().split(tiles().x_of(my_proc()))) {}

 protected:
  void start(const Panel& panel, unsigned turn) override {
    Turn& mine = turns_[turn];
    a(turn) = broadcast(part_of_a(panel), row_, panel.column, mine.a, mine.a_comes);
    b(turn) = broadcast(part_of_b(panel), column_, panel.row, mine.b, mine.b_comes);
  }
  void finish(unsigned turn) override {
    turns_[turn].a_comes->wait();
    turns_[turn].b_comes->wait();
  }

 private:
  struct Turn {
    std::vector<double> a, b;
    std::optional<started<>> a_comes, b_comes;
  };
  static Operand broadcast(const Part& part, const team& to, std::uint32_t root,
                           std::vector<double>& copy, std::optional<started<>>& comes) {
    copy.resize(part.rows * part.columns);
    if (part.first.proc() == my_proc()) {
      const double* from = tolocal(part.first);
      for (std::size_t row = 0; row < part.rows; ++row, from += part.stride) {
        std::copy_n(from, part.columns, copy.data() + row * part.columns);
      }
    }
    comes.emplace(to.start_all_bcast(copy, root));
    return {copy.data(), part.columns};
  }

  team row_, column_;
  Turn turns_[2];
};

}  // namespace

int dgemm(Args args) {
  Runs runs;
  std::size_t order = 500, panel = 64;
  examples::CommandLine line("The product of dense matrices, by panels.", "prk dgemm");
  line.option("--order", order, "rows and columns").range(std::size_t{1}, std::size_t{1} << 20);
  line.option("--panel", panel, "columns of A, and rows of B, that are multiplied together")
      .range(std::size_t{1}, std::size_t{1} << 20);
  add_options(line, runs, {"gets", "broadcasts"});
  if (!line.parse(args)) return 0;
  if (order < procs()) {
    throw std::runtime_error("prk dgemm: --order " + std::to_string(order) + " is too small for " +
                             std::to_string(procs()) + " processes; give at least a row for each");
  }
  const auto n = static_cast<double>(order);
  const Way ways[] = {
      {"gets", [=] { return std::make_unique<DgemmGets>(order, panel); }},
      {"broadcasts", [=] { return std::make_unique<DgemmBroadcasts>(order, panel); }},
  };
  return measure(
      runs,
      {.title = "dgemm: " + std::to_string(order) + " x " + std::to_string(order) + ", " +
                Tiles(order, order).words() + ", panels of " + std::to_string(panel),
       .verified = "the sum of the product",
       .expected = [=](double times) { return 0.25 * n * n * n * (n - 1) * (n - 1) * times; },
       .unit = "MFlop",
       .work = 2 * n * n * n / 1e6},
      ways);
}

}  // namespace prk
