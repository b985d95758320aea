// Breadth-first search by tasks of oneTBB: each process looks through its part of the vertices in
// parallel, and any of its threads marks neighbours, wherever these lie.
//
//   c++ -std=c++20 -O2 levels_tbb.cc $(pkg-config --cflags --libs splitphase-splitc tbb)
//   splitcrun -n 4 ./a.out 100000 3

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "splitc/splitc.h"

using namespace splitc;

namespace {

using Levels = spread_array<std::uint64_t>;  // 1 + the distance from vertex 0; 0: not reached

// A graph that need not be stored.
std::array<std::size_t, 3> neighbours(std::size_t vertex, std::size_t count) {
  return {2 * vertex % count, (5 * vertex + 3) % count, (vertex / 2 + count / 3) % count};
}

// Marks the neighbours of vertex `i` that nobody has reached; how many these were.
std::uint64_t expand(const Levels& levels, std::size_t i, std::uint64_t level) {
  std::uint64_t reached = 0;
  for (const std::size_t next : neighbours(i, levels.size())) {
    reached += cmp_and_swap(&levels[next], std::uint64_t{0}, level + 1) == 0;
  }
  return reached;
}

// How many vertices of all processes are reached from those of `level`.
std::uint64_t next_level(const Levels& levels, std::uint64_t level) {
  const std::size_t first = levels.size() * my_proc() / procs();
  const std::size_t end = levels.size() * (my_proc() + 1) / procs();
  const auto mine = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(first, end, 256), std::uint64_t{0},
      [&](const tbb::blocked_range<std::size_t>& range, std::uint64_t sum) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          if (levels[i] == level) sum += expand(levels, i, level);
        }
        return sum;
      },
      std::plus<>());
  return all_reduce(mine, std::plus<>());
}

std::vector<std::uint64_t> levels_alone(std::size_t count) {
  std::vector<std::uint64_t> levels(count);
  std::vector<std::size_t> queue{0};
  levels[0] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const std::size_t next : neighbours(queue[at], count)) {
      if (levels[next] != 0) continue;
      levels[next] = levels[queue[at]] + 1;
      queue.push_back(next);
    }
  }
  return levels;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000;
  const auto threads = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 2);
  return run(argc, argv, {.threads = threads}, [&](Args) {
    // As many as may use the global address space.
    const tbb::global_control workers(tbb::global_control::max_allowed_parallelism, threads);
    const Levels levels(count);
    if (my_proc() == 0) levels[0] = 1;
    barrier();
    std::uint64_t reached = 1, level = 0;
    for (std::uint64_t more = 1; more != 0; reached += more) {
      ++level;
      more = next_level(levels, level);
    }
    const auto alone = levels_alone(count);
    std::uint64_t wrong = 0;
    for (std::size_t i = my_proc(); i < count; i += procs()) wrong += levels[i] != alone[i];
    wrong = all_reduce(wrong, std::plus<>());
    on_one([&] {
      std::printf("%zu vertices, %u processes of %u threads: %zu reached in %zu levels, %s\n",
                  count, procs(), threads, static_cast<std::size_t>(reached),
                  static_cast<std::size_t>(level), wrong == 0 ? "as alone" : "WRONG");
    });
    return wrong == 0 ? 0 : 1;
  });
}
