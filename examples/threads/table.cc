// A hash table over all processes, filled by several threads of each: every thread draws keys and
// counts them in the table, by atomics on words of whichever process has the place. At the end the
// counts are compared with what was drawn.
//
//   ./run -n 4 --nodes 2 table --threads 3 --keys 20000

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "examples/command_line.h"

using namespace splitc;

namespace {

constexpr std::uint32_t kMostThreads = 16;
constexpr std::size_t kMostKeys = 10'000'000;

struct Table {
  spread_array<std::uint64_t> keys;  // 0: free
  spread_array<std::uint64_t> counts;

  explicit Table(std::size_t places) : keys(places), counts(places) {}

  // Open addressing: a place belongs to the key that was there first.
  void add(std::uint64_t key) {
    for (std::size_t at = key * 0x9e3779b97f4a7c15 % keys.size();; at = (at + 1) % keys.size()) {
      const std::uint64_t there = cmp_and_swap(&keys[at], std::uint64_t{0}, key);
      if (there != 0 && there != key) continue;
      fetch_and_add(&counts[at], std::uint64_t{1});
      return;
    }
  }
};

// The keys of one thread; some are drawn much more often than others.
std::uint64_t draw(std::mt19937_64& random, std::uint64_t different) {
  return 1 + std::min(random() % different, random() % different);
}

void fill(Table& table, std::uint64_t seed, std::uint64_t count, std::uint64_t different) {
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < count; ++i) table.add(draw(random, different));
}

// Of each key, how often all threads of all processes have drawn it.
std::vector<std::uint64_t> expected(std::uint64_t threads, std::uint64_t count,
                                    std::uint64_t different) {
  std::vector<std::uint64_t> all(different + 1);
  for (std::uint64_t seed = 0; seed < threads * procs(); ++seed) {
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 0; i < count; ++i) ++all[draw(random, different)];
  }
  return all;
}

bool is_right(Table& table, const std::vector<std::uint64_t>& right) {
  std::uint64_t wrong = 0;
  std::uint64_t mine = 0;
  for_each_mine(table.keys, [&](std::size_t at, std::uint64_t key) {
    const std::uint64_t count = table.counts[at];
    if (key != 0 && right[key] != count) ++wrong;
    mine += count;
  });
  std::uint64_t drawn = 0;
  for (const std::uint64_t one : right) drawn += one;
  return all_reduce(wrong, std::plus<>()) == 0 && all_reduce(mine, std::plus<>()) == drawn;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, {.threads = kMostThreads}, [](Args args) {
    std::uint32_t threads = 2;
    std::size_t keys = 2000, different = 500;
    examples::CommandLine line("A hash table that several threads of each process fill.", "table");
    line.option("--threads", threads, "of each process").range(1u, kMostThreads);
    line.option("--keys", keys, "that each thread draws");
    line.option("--different", different, "keys that there are").range(std::size_t{1}, kMostKeys);
    if (!line.parse(args)) return 0;
    Table table(2 * different);
    barrier();
    const double start = get_seconds();
    const auto fill_as = [&](std::uint32_t thread) {
      fill(table, my_proc() * threads + thread, keys, different);
    };
    {
      std::vector<std::jthread> others;
      for (std::uint32_t i = 1; i < threads; ++i) others.emplace_back(fill_as, i);
      fill_as(0);
    }
    barrier();
    const double seconds = get_seconds() - start;
    const bool right = is_right(table, expected(threads, keys, different));
    const std::size_t all = keys * threads * procs();
    on_one([&] {
      std::printf("%zu keys by %u threads of each of %u processes, %.3g million a second: %s\n",
                  all, threads, procs(), 1e-6 * static_cast<double>(all) / seconds,
                  right ? "counted right" : "WRONG");
    });
    return right ? 0 : 1;
  });
}
