// Heat spreads over a square plate: the heat equation in two dimensions, by a grid over all
// processes. Its upper side is kept at 1, the others at 0; each step replaces every cell by a mean
// of itself and its four neighbours. Process 0 can do the same alone, and both give the same bits.
//
//   ./run heat --size 500 --steps 1000
//   ./run -n 4 --nodes 2 heat --verify

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "examples/command_line.h"
#include "examples/progress.h"

using namespace splitc;

namespace {

double after_step(double here, double up, double down, double left, double right) {
  return here + 0.2 * (up + down + left + right - 4 * here);
}

// The plate of one process, with its rim: cell (i, j) is at (i + 1) * (n + 2) + j + 1.
std::vector<double> heat_alone(std::size_t n, int steps) {
  const std::size_t width = n + 2;
  std::vector<double> u(width * width);
  std::fill_n(u.begin(), width, 1.0);
  std::vector<double> next = u;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t row = width; row < width * (n + 1); row += width) {
      for (std::size_t at = row + 1; at <= row + n; ++at) {
        next[at] = after_step(u[at], u[at - width], u[at + width], u[at - 1], u[at + 1]);
      }
    }
    u.swap(next);
  }
  return u;
}

// The plate of all processes. Ghosts beyond its sides are nobody's copies: they are the rim.
grid<double, 2> cold_plate(std::size_t n) {
  grid<double, 2> u({n, n});
  if (!u.neighbour({-1, 0})) u.for_each(u.halo()[0], [](auto, auto, double& rim) { rim = 1; });
  return u;
}

void step_together(grid<double, 2>& u, grid<double, 2>& next) {
  const auto update = [&u](auto i, auto j, double& x) {
    x = after_step(u(i, j), u(i - 1, j), u(i + 1, j), u(i, j - 1), u(i, j + 1));
  };
  u.start_exchange();
  next.for_each(u.inner(), update);  // needs no ghosts, so it is done while they come
  u.finish_exchange();
  for (const auto& part : u.edges()) next.for_each(part, update);
  std::swap(u, next);
}

// Returns the seconds that they take.
double all_steps(grid<double, 2>& u, grid<double, 2>& next, int steps) {
  examples::Progress progress(static_cast<std::uint64_t>(steps));
  barrier();
  const double start = get_seconds();
  for (int step = 0; step < steps; ++step) {
    step_together(u, next);
    progress.step();
  }
  barrier();
  return get_seconds() - start;
}

// On process 0: cells that are not what it computes alone.
std::size_t wrong_cells(const grid<double, 2>& u, std::size_t n, int steps) {
  const std::vector<double> right = heat_alone(n, steps);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      wrong += *u.pointer({i, j}) != right[(i + 1) * (n + 2) + j + 1] ? 1 : 0;
    }
  }
  return wrong;
}

int heat(std::size_t n, int steps, bool verify) {
  grid<double, 2> u = cold_plate(n), next = cold_plate(n);
  const double seconds = all_steps(u, next, steps);

  double mine = 0;
  u.for_each([&](auto, auto, double& x) { mine += x; });
  const double sum = all_reduce(mine, std::plus());
  std::size_t wrong = 0;
  on_one([&] {
    std::printf("%zu x %zu cells on %u x %u processes: %.1f us a step, heat %.9g\n", n, n,
                u.processes(0), u.processes(1), 1e6 * seconds / std::max(steps, 1), sum);
    if (!verify) return;
    wrong = wrong_cells(u, n, steps);
    std::printf(wrong == 0 ? "verified\n" : "%zu cells are wrong\n", wrong);
  });
  return all_bcast(wrong) == 0 ? 0 : 1;
}

int program(Args args) {
  examples::CommandLine line("Spreads heat over a square plate", "heat");
  std::size_t n = 200;
  int steps = 500;
  bool verify = false;
  line.option("--size", n, "cells along each side").range(1, 100'000);
  line.option("--steps", steps, "steps of time").range(0, 10'000'000);
  line.flag("--verify", verify, "process 0 computes the same alone and compares");
  return line.parse(args) ? heat(n, steps, verify) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, [](Args args) { return program(args); });
}
