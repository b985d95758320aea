// What owner-computes loops and reductions of spread arrays cost, beside loops over plain memory
// that were written by hand for the layout. Each process of the two goes over its own elements.

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "benchmarks/support/clock.h"
#include "benchmarks/support/compiler.h"
#include "benchmarks/support/program.h"
#include "splitc/splitc.h"

namespace {

using bench::Bench;
using namespace splitc;

constexpr std::size_t kMine = 4096;  // elements of each process: they stay in the first cache

// Nanoseconds for each element of a loop, run often enough to be timed.
template <class Loop>
double timed(Bench& b, std::size_t elements, Loop&& loop) {
  const int n = b.count(100);
  const bench::Stopwatch watch;
  for (int i = 0; i < n; ++i) {
    loop();
    bench::compiler_barrier();
  }
  return watch.ns() / (n * static_cast<double>(elements));
}

template <class Ours, class Raw>
void compare(Bench& b, const std::string& name, std::size_t elements, Ours&& ours, Raw&& raw) {
  const auto samples = b.pair.interleave(b.reps(400), {[&] { return timed(b, elements, ours); },
                                                       [&] { return timed(b, elements, raw); }});
  b.report.add_time(name, sizeof(double), samples[0], "by_hand", samples[1]);
}

void blocked_loops(Bench& b) {
  const spread_array<double> x(kMine * procs(), blocked), y(kMine * procs(), blocked);
  compare(
      b, "axpy_blocked", kMine,
      [&] { for_each_mine(y, x, [](std::size_t, double& to, double& from) { to += 0.5 * from; }); },
      [&] {
        double* const to = y.mine().data();
        const double* const from = x.mine().data();
        for (std::size_t i = 0, n = y.mine().size(); i < n; ++i) to[i] += 0.5 * from[i];
      });
  compare(
      b, "index_blocked", kMine,
      [&] { for_each_mine(y, [](std::size_t i, double& to) { to = 2.0 * double(int(i)); }); },
      [&] {
        double* const to = y.mine().data();
        const std::size_t first = y.block() * my_proc();
        for (std::size_t i = 0, n = y.mine().size(); i < n; ++i)
          to[i] = 2.0 * double(int(first + i));
      });
}

void cyclic_loops(Bench& b) {
  const spread_array<double> x(kMine * procs()), y(kMine * procs(), block_cyclic(16));
  compare(
      b, "index_cyclic", kMine,
      [&] { for_each_mine(x, [](std::size_t i, double& to) { to = 2.0 * double(int(i)); }); },
      [&] {
        double* const to = x.mine().data();
        const std::size_t me = my_proc(), all = procs();
        for (std::size_t i = 0, n = x.mine().size(); i < n; ++i)
          to[i] = 2.0 * double(int(i * all + me));
      });
  compare(
      b, "index_block_cyclic_16", kMine,
      [&] { for_each_mine(y, [](std::size_t i, double& to) { to = 2.0 * double(int(i)); }); },
      [&] {
        double* const to = y.mine().data();
        const std::size_t me = my_proc(), all = procs(), n = y.mine().size();
        const std::size_t block = bench::opaque(y.block());  // as a program does that may change it
        for (std::size_t k = 0; k < n; k += block) {
          const std::size_t first = (k / block * all + me) * block;
          for (std::size_t i = 0; i < std::min(block, n - k); ++i) {
            to[k + i] = 2.0 * double(int(first + i));
          }
        }
      });
}

// As one would go over the tiles.
void tiles_by_hand(const spread_array_2d<double>& a) {
  for (const auto [ti, tj] : a.my_tiles()) {
    const tile_view<double> tile = a.tile(ti, tj);
    for (std::size_t i = 0; i < tile.rows(); ++i) {
      double* const row = tile.data() + i * tile.stride();
      const std::size_t first = ti * a.q() + i + tj * a.r();
      for (std::size_t j = 0, n = tile.columns(); j < n; ++j) row[j] = 2.0 * double(int(first + j));
    }
  }
}

void tiles(Bench& b) {
  const spread_array_2d<double> one(64, 64 * procs(), blocked, blocked);
  const spread_array_2d<double> many(64, 64 * procs(), block_cyclic(8), block_cyclic(16));
  const spread_array_2d<double> each(64, 64 * procs());
  for (const auto* const a : {&one, &many, &each}) {
    const std::string name = a == &one ? "blocked" : a == &many ? "8_by_16" : "cyclic";
    compare(
        b, "tiles_" + name, 64 * 64,
        [a] {
          for_each_mine(
              *a, [](std::size_t i, std::size_t j, double& x) { x = 2.0 * double(int(i + j)); });
        },
        [a] { tiles_by_hand(*a); });
  }
}

// Of the own elements only: what all processes add to it is an all_reduce.
void sums(Bench& b) {
  const spread_array<double> x(kMine * procs(), blocked);
  for_each_mine(x, [](std::size_t i, double& to) { to = double(i); });
  compare(
      b, "sum_mine", kMine,
      [&] {
        std::identity same;
        bench::keep(splitc::detail::sum_of<double>(x.mine(), same));
      },
      [&] {
        double sum = 0;
        for (const double value : x.mine()) sum += value;
        bench::keep(&sum);
      });
}

// Through global references, as algorithms do.
void iterators(Bench& b) {
  const spread_array<double> x(kMine, blocked), y(kMine);
  for (const auto* const a : {&x, &y}) {
    compare(
        b, a == &x ? "range_blocked" : "range_cyclic", kMine,
        [a] {
          double sum = 0;
          for (const double value : *a) sum += value;
          bench::keep(&sum);
        },
        [a] {
          double sum = 0;
          for (std::size_t i = 0; i < a->size(); ++i) sum += (*a)[i];
          bench::keep(&sum);
        });
  }
}

// Five points of a block of 64 by 64, and of a cube of 16.
void stencils(Bench& b) {
  const grid<double, 2> u({64, 64 * procs()}), to({64, 64 * procs()});
  compare(
      b, "stencil_2d", 64 * 64,
      [&] {
        to.for_each([&](auto i, auto j, double& x) {
          x = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
        });
      },
      [&] {
        const std::ptrdiff_t n = u.size(0), m = u.size(1), stride = u.stride(0);
        for (std::ptrdiff_t i = 0; i < n; ++i) {
          const double* const from = &u(i, 0);
          double* const row = &to(i, 0);
          for (std::ptrdiff_t j = 0; j < m; ++j) {
            row[j] = 0.25 * (from[j - stride] + from[j + stride] + from[j - 1] + from[j + 1]);
          }
        }
      });
  const grid<double, 3> v({16, 16, 16 * procs()}), next({16, 16, 16 * procs()});
  compare(
      b, "stencil_3d", 16 * 16 * 16,
      [&] {
        next.for_each([&](auto i, auto j, auto k, double& x) {
          x = v(i - 1, j, k) + v(i + 1, j, k) + v(i, j - 1, k) + v(i, j + 1, k) + v(i, j, k - 1) +
              v(i, j, k + 1);
        });
      },
      [&] {
        const std::ptrdiff_t plane = v.stride(0), line = v.stride(1);
        for (std::ptrdiff_t i = 0; i < v.size(0); ++i) {
          for (std::ptrdiff_t j = 0; j < v.size(1); ++j) {
            const double* const from = &v(i, j, 0);
            double* const row = &next(i, j, 0);
            for (std::ptrdiff_t k = 0, n = v.size(2); k < n; ++k) {
              row[k] = from[k - plane] + from[k + plane] + from[k - line] + from[k + line] +
                       from[k - 1] + from[k + 1];
            }
          }
        }
      });
}

// Nanoseconds for each of many exchanges, which both processes make.
template <class Exchange>
double exchanges(Bench& b, Exchange&& exchange) {
  const int n = b.count(500);
  b.pair.meet();
  const bench::Stopwatch watch;
  for (int i = 0; i < n; ++i) exchange();
  return watch.ns() / n;
}

// One side with the other process, of a row or of a column, beside what a program could do by hand
// whose ghosts are two in turn: a channel for each, straight to the ghosts.
void halos(Bench& b) {
  constexpr std::size_t n = 4096;  // cells of a side
  for (const bool rows : {true, false}) {
    using Cells = std::array<std::size_t, 2>;
    grid<double, 2> g(rows ? Cells{2 * procs(), n} : Cells{n, 2 * procs()},
                      {.processes = {rows ? procs() : 1, rows ? 1 : procs()}});
    const spread_array<double> ghosts(procs(), 2 * n);
    const strided edge{.rows = static_cast<std::uint32_t>(n),
                       .row_stride = static_cast<std::uint64_t>(rows ? 1 : g.stride(0))};
    std::vector<put_channel<double>> channels;
    for (const std::size_t turn : {0u, 1u}) {
      channels.emplace_back(ghosts.on(1 - my_proc() % 2) + static_cast<std::ptrdiff_t>(turn * n),
                            strided{.run = n}, &g(0, 0), edge);
    }
    // Both read what has come, as a program does: else the cells would stay in the sender's cache.
    const std::ptrdiff_t beyond = my_proc() == 0 ? g.size(rows ? 0 : 1) : -1;
    const double* const halo = rows ? &g(beyond, 0) : &g(0, beyond);
    const std::ptrdiff_t stride = rows ? 1 : g.stride(0);
    const auto read = [](const double* x, std::ptrdiff_t step) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += x[static_cast<std::ptrdiff_t>(i) * step];
      bench::keep(&sum);
    };
    unsigned turn = 0;
    const auto by_grid = [&] {
      g.exchange();
      read(halo, stride);
    };
    const auto by_hand = [&] {
      channels[turn].put();
      channels[turn].wait();
      read(ghosts.mine().data() + turn * n, 1);
      channels[turn].ready();
      turn = 1 - turn;
    };
    const auto samples = b.pair.interleave(b.reps(200), {[&] { return exchanges(b, by_grid); },
                                                         [&] { return exchanges(b, by_hand); }});
    b.report.add_time(rows ? "exchange_row" : "exchange_column", n * sizeof(double), samples[0],
                      "channels", samples[1]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "ranges",
       .what = "loops over the own elements of spread arrays, beside loops written by hand",
       .measurements = {
           {"blocked", "one block each: y += c x, and a function of the index", blocked_loops},
           {"cyclic", "elements, and blocks of 16, in turn", cyclic_loops},
           {"tiles", "two dimensions: a tile each, tiles of 8 by 16, elements", tiles},
           {"sum", "of the own elements, in eight lanes; by hand in one", sums},
           {"iterators", "all elements of both processes by an iterator; by hand by index",
            iterators},
           {"stencil", "grids: five points in two dimensions, six in three", stencils},
           {"halo", "grids: an exchange of one side each, beside channels by hand", halos},
       }});
}
