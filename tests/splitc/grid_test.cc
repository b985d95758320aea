// Grids beside serial ones: every ghost after every exchange, and a stencil to the last bit.
#include "splitc/grid/grid.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "splitc/splitc.h"
#include "splitc/world/heap.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/nodes.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;

constexpr std::int64_t kUntouched = -7;

// What cell `at` of the whole grid holds in a round; kUntouched beyond an end.
template <std::size_t D>
std::int64_t value_of(const grid<std::int64_t, D>& g, const grid_options<D>& how, grid_index<D> at,
                      int round) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < D; ++d) {
    const auto cells = static_cast<std::ptrdiff_t>(g.cells(d));
    if (how.periodic[d]) at[d] = (at[d] + cells) % cells;
    if (at[d] < 0 || at[d] >= cells) return kUntouched;
    number = number * cells + at[d];
  }
  return number * 100 + round;
}

// In the whole grid.
template <std::size_t D>
grid_index<D> in_whole(const grid<std::int64_t, D>& g, grid_index<D> cell) {
  for (std::size_t d = 0; d < D; ++d) cell[d] += static_cast<std::ptrdiff_t>(g.first(d));
  return cell;
}

template <std::size_t D>
std::size_t outside(const grid<std::int64_t, D>& g, const grid_index<D>& cell) {
  std::size_t count = 0;
  for (std::size_t d = 0; d < D; ++d) count += cell[d] < 0 || cell[d] >= g.size(d);
  return count;
}

// No barrier in here: a neighbour may be an exchange ahead.
template <std::size_t D>
void expect_ghosts(const std::array<std::size_t, D>& cells, const grid_options<D>& how) {
  SCOPED_TRACE(testing::Message() << D << " dimensions, ghosts " << how.ghosts << " corners "
                                  << how.corners << " periodic " << how.periodic[0]);
  grid<std::int64_t, D> g(cells, how);
  for (const auto& cell : g.all()) g[cell] = kUntouched;
  for (int round = 0; round < 5; ++round) {
    for (const auto& cell : g.own()) g[cell] = value_of(g, how, in_whole(g, cell), round);
    g.exchange();
    for (const auto& cell : g.all()) {
      const bool refreshed = outside(g, cell) <= (how.corners ? D : 1);
      ASSERT_EQ(g[cell], refreshed ? value_of(g, how, in_whole(g, cell), round) : kUntouched)
          << "round " << round << " cell " << cell[0];
    }
  }
}

TEST(Grid, exchange_brings_the_cells_of_all_neighbours) {
  for (const bool corners : {false, true}) {
    for (const bool periodic : {false, true}) {
      expect_ghosts<1>({29}, {.ghosts = 2, .corners = corners, .periodic = {periodic}});
      expect_ghosts<2>({17, 11},
                       {.ghosts = 1, .corners = corners, .periodic = {periodic, !periodic}});
      expect_ghosts<2>({19, 23},
                       {.ghosts = 2, .corners = corners, .periodic = {periodic, periodic}});
      expect_ghosts<3>({9, 7, 8},
                       {.corners = corners, .periodic = {periodic, !periodic, periodic}});
    }
  }
}

TEST(Grid, may_be_cut_along_one_dimension_only) {
  const std::size_t n = 2 * procs() + 1;
  expect_ghosts<2>({n, 3}, {.ghosts = 2, .corners = true, .processes = {procs(), 1}});
  expect_ghosts<2>({3, n}, {.periodic = {true, true}, .processes = {1, 0}});
  expect_ghosts<3>({3, n, 4},
                   {.corners = true, .periodic = {true, true, true}, .processes = {1, procs(), 1}});
}

TEST(Grid, blocks_are_all_cells_once_and_as_even_as_can_be) {
  const grid<int, 2> g({13, 22});
  ASSERT_EQ(g.processes(0) * g.processes(1), procs());
  for (const std::size_t d : {0, 1}) {
    const auto most = static_cast<std::ptrdiff_t>((g.cells(d) - 1) / g.processes(d) + 1);
    EXPECT_TRUE(g.size(d) == most || g.size(d) == most - 1 || g.cells(d) % g.processes(d) == 0);
  }
  g.for_each([](auto, auto, int& x) { ++x; });
  barrier();
  for (std::size_t i = 0; i < 13; ++i) {
    for (std::size_t j = 0; j < 22; ++j) {
      ASSERT_EQ(int(*g.pointer({i, j})), 1);
      ASSERT_EQ(g.owner({i, j}), g.pointer({i, j}).proc());
    }
  }
  barrier();
  EXPECT_EQ(tolocal(g.pointer({g.first(0), g.first(1)})), &g(0, 0));
  EXPECT_EQ(g.row(2) + 1, &g(2, 1));
  EXPECT_EQ(g.row(0) + g.stride(0), g.row(1));
}

TEST(Grid, inner_cells_and_edges_are_the_own_ones_once) {
  for (const std::size_t ghosts : {0u, 1u, 2u, 3u}) {
    const grid<int, 3> g({3 * procs() + 1, 9, 4}, {.ghosts = ghosts, .processes = {procs(), 1, 1}});
    g.for_each(g.inner(), [](auto, auto, auto, int& x) { x += 10; });
    for (const auto& part : g.edges()) g.for_each(part, [](auto, auto, auto, int& x) { ++x; });
    std::size_t inner = 0;
    for (const auto& cell : g.own()) {
      bool needs = false;
      for (std::size_t d = 0; d < 3; ++d) {
        const auto width = static_cast<std::ptrdiff_t>(ghosts);
        needs = needs || cell[d] < width || cell[d] >= g.size(d) - width;
      }
      ASSERT_EQ(g[cell], needs ? 1 : 10);
      inner += !needs;
    }
    ASSERT_EQ(inner, g.inner().size());
    std::size_t halo = 0;
    for (const auto& part : g.halo()) {
      for (const auto& cell : part) ASSERT_FALSE(g.own().contains(cell));
      halo += part.size();
    }
    ASSERT_EQ(halo == 0, ghosts == 0);
  }
}

double mean(double a, double b, double c, double d) { return 0.25 * (a + b + c + d); }

// A step of Jacobi's method on a rectangle whose surroundings are 1 above and 0 elsewhere.
std::vector<double> serial_step(const std::vector<double>& u, std::size_t n, std::size_t m) {
  std::vector<double> next(u.size());
  const auto at = [&](std::size_t i, std::size_t j) {
    if (i == 0) return 1.0;
    return i > n || j == 0 || j > m ? 0.0 : u[(i - 1) * m + j - 1];
  };
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      next[(i - 1) * m + j - 1] = mean(at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1));
    }
  }
  return next;
}

// Split-phase, by two grids in turn, while processes are late by turns.
TEST(Grid, a_stencil_gives_the_bits_of_the_serial_one) {
  constexpr std::size_t kRows = 19, kColumns = 26;
  grid<double, 2> u({kRows, kColumns}), next({kRows, kColumns});
  for (const auto* g : {&u, &next}) {
    if (!g->neighbour({-1, 0})) g->for_each(g->halo()[0], [](auto, auto, double& x) { x = 1; });
  }
  std::vector<double> serial(kRows * kColumns);
  std::mt19937_64 random(test::seed() + my_proc());
  const int steps = test::times(40, 10);
  for (int step = 0; step < steps; ++step) {
    const auto stencil = [&](auto i, auto j, double& x) {
      x = mean(u(i - 1, j), u(i + 1, j), u(i, j - 1), u(i, j + 1));
    };
    u.start_exchange();
    for (std::uint64_t late = random() % 50; late > 0; --late) poll();
    next.for_each(u.inner(), stencil);
    u.finish_exchange();
    for (std::uint64_t late = random() % 50; late > 0; --late) poll();
    for (const auto& part : u.edges()) next.for_each(part, stencil);
    std::swap(u, next);
    serial = serial_step(serial, kRows, kColumns);
  }
  u.for_each([&](auto i, auto j, double& x) {
    ASSERT_EQ(x, serial[(u.first(0) + std::size_t(i)) * kColumns + u.first(1) + std::size_t(j)]);
  });
}

TEST(Grid, an_exchange_in_flight_ends_with_the_grid) {
  const std::uint64_t before = world().heap().used();
  for (int i = 0; i < 3; ++i) {
    grid<float, 1> g({4 * procs()}, {.periodic = {true}});
    g.start_exchange();
  }
  EXPECT_EQ(world().heap().used(), before);
}

// Also where a neighbour has not opened its ends of the channels yet.
TEST(Grid, may_end_without_an_exchange) {
  for (int i = 0; i < 20; ++i) grid<char, 2> g({2 * procs(), 3}, {.corners = true});
}

// Not a small grid, where the number of bytes is more than 64 bits hold.
TEST(Grid, refuses_more_cells_than_there_is_memory) {
  constexpr std::size_t kMost = ~std::size_t{0};
  for (const std::size_t n : {kMost, kMost - 40, kMost / 2 + 1, kMost / 4 + 1, kMost / 64}) {
    for (const std::size_t ghosts : {std::size_t{0}, std::size_t{1}, n / procs()}) {
      EXPECT_NE(test::error_of([&] { grid<char, 1> g({n}, {.ghosts = ghosts}); }), "") << n;
    }
    EXPECT_NE(test::error_of([&] { grid<char, 2> g({n, 1}, {.processes = {procs(), 1}}); }), "");
    EXPECT_NE(test::error_of([&] { grid<double, 2> g({procs(), n}, {.ghosts = 0}); }), "");
    EXPECT_NE(test::error_of([&] { grid<char, 3> g({n, n, n}); }), "");
  }
  barrier();
}

TEST(Grid, refuses_what_cannot_be) {
  const std::string all = std::to_string(procs()) + " processes cannot be arranged as ";
  test::expect_error(
      [] {
        grid<int, 2> g({8, 8}, {.processes = {procs() + 1, 0}});
      },
      {"grid: " + all, "x any number", "leave .processes out"});
  if (procs() > 1) {
    test::expect_error([] { grid<int, 1> g({2 * procs()}, {.ghosts = 3}); },
                       {all, "has 3 or more of the"});
  }
  test::expect_error([] { grid<int, 2> g({8, 0}); }, {"8 x 0 cells", "dimension 1", "than one"});
  grid<int, 2> g({2 * procs(), 4}, {.processes = {procs(), 1}});
  test::expect_error([&] { g.finish_exchange(); },
                     {"grid::finish_exchange: no exchange has been started"});
  g.start_exchange();
  test::expect_error([&] { g.start_exchange(); }, {"started already; call finish_exchange()"});
  g.finish_exchange();
  test::expect_error([&] { g.pointer({0, 4}); }, {"grid::pointer: there is no index 4"});
  if (am::kChecked) {
    test::expect_error([&] { g(-2, 0) = 1; },
                       {"grid: there is no cell (-2, 0)", "it has (-1, -1) to (2, 4)"});
    test::expect_error(
        [&] {
          g.for_each({{0, 0}, {2, 6}}, [](auto, auto, int&) {});
        },
        {"there is no cell (1, 5)"});
    const std::string said =
        test::error_of([] { grid<int, 1> different({8 * procs() + (my_proc() == 0 ? 1 : 0)}); });
    if (procs() > 1) {
      EXPECT_NE(said.find("grid"), std::string::npos) << said;
    }
  }
}

}  // namespace
