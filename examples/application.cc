#include "examples/application.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "examples/command_line.h"
#include "examples/progress.h"

namespace examples {
namespace {

using namespace splitc;

struct NamedWay {
  std::string_view name;
  Way way;
};
constexpr NamedWay kWays[] = {
    {"messages", Way::kMessages},
    {"stores", Way::kStores},
    {"channels", Way::kChannels},
};

// What has been seen of one way.
struct Result {
  NamedWay way;
  double seconds = std::numeric_limits<double>::infinity();  // of the fastest repetition
  std::uint64_t checksum = 0;
  bool steady = true;  // every repetition had this checksum
};

std::vector<Result> asked_for(const Runs& runs) {
  std::vector<Result> results;
  for (const NamedWay& way : kWays) {
    if (runs.with == "all" || runs.with == way.name) results.push_back({way});
  }
  return results;
}

void take_in(Result& result, const Outcome& mine, bool first) {
  const double seconds = all_reduce(mine.seconds, maximum());
  const std::uint64_t checksum = all_reduce(mine.checksum, std::plus());
  result.seconds = std::min(result.seconds, seconds);
  result.steady &= first || checksum == result.checksum;
  result.checksum = checksum;
}

// Solves the problem in each way, over and over in turn.
void repeat(const Runs& runs, const std::function<Outcome(Way)>& solve,
            std::vector<Result>& results) {
  Progress progress(results.size() * runs.repetitions);
  for (std::uint32_t repetition = 0; repetition < runs.repetitions; ++repetition) {
    for (Result& result : results) {
      take_in(result, solve(result.way.way), repetition == 0);
      progress.step();
    }
  }
}

// Says how it went; returns whether that was right.
bool report(const Result& result, const Runs& runs, std::uint64_t expected) {
  const bool right = result.steady && result.checksum == expected;
  std::printf("%-10s%14.3f  %016lx", result.way.name.data(), 1e6 * result.seconds / runs.iterations,
              result.checksum);
  if (!right) {
    std::printf("  WRONG: %016lx is right\n", expected);
  } else {
    std::printf(runs.verify ? "  equal to the serial computation\n" : "\n");
  }
  return right;
}

// "AxBxC" as numbers. Throws std::invalid_argument, for option_read_by(), if it is something else.
Grid grid_of(const std::string& text) {
  constexpr std::uint32_t kMost = 1 << 20;  // so that no product of three is beyond 64 bits
  Grid grid{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t side = 0; side < grid.size(); ++side) {
    const auto [behind, error] = std::from_chars(at, end, grid[side]);
    const bool last = side + 1 == grid.size();
    const bool separated = last ? behind == end : behind != end && *behind == 'x';
    if (error != std::errc() || !separated || grid[side] < 1 || grid[side] > kMost) {
      throw std::invalid_argument("\"" + text + "\" is not three numbers from 1 to " +
                                  std::to_string(kMost) + " with an x between them, such as 2x2x1");
    }
    at = behind + 1;
  }
  return grid;
}

}  // namespace

void add_options(CommandLine& line, Runs& runs) {
  std::vector<std::string> names{"all"};
  for (const NamedWay& way : kWays) names.emplace_back(way.name);
  line.option("--with", runs.with, "how to communicate: one way, or all in turn").one_of(names);
  line.option("--iterations", runs.iterations, "iterations").range(1u, 100'000'000u);
  line.option("--repetitions", runs.repetitions, "of all iterations; the fastest counts")
      .range(1u, 1'000'000u);
  line.flag("--verify", runs.verify, "compare with what process 0 computes alone");
}

std::string text_of(const Grid& grid) {
  return std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
}

void add_size_option(CommandLine& line, Grid& points) {
  const auto read = [&points](const std::string& text) {
    points = grid_of(text.find('x') == std::string::npos ? text + "x" + text + "x" + text : text);
  };
  line.option_read_by("--size", read,
                      "points along each dimension, one number for all or three, such as 64x64x32")
      .type_name("N or AxBxC");
}

void add_option(CommandLine& line, Grid& grid) {
  const auto read = [&grid](const std::string& text) { grid = grid_of(text); };
  line.option_read_by("--grid", read,
                      "processes along each dimension, such as 2x2x1; chosen if not given")
      .type_name("AxBxC");
}

Grid grid_of_all(const Grid& asked) {
  const std::uint32_t all = procs();
  if (asked != Grid{}) {
    if (std::uint64_t{asked[0]} * asked[1] * asked[2] != all) {
      throw std::runtime_error("--grid " + text_of(asked) + " is not a grid of " +
                               std::to_string(all) + " processes");
    }
    return asked;
  }
  Grid best{all, 1, 1};
  for (std::uint32_t a = 1; a <= all; ++a) {
    for (std::uint32_t b = 1; b <= a && a * b <= all; ++b) {
      if (all % (a * b) != 0) continue;
      const std::uint32_t c = all / (a * b);
      if (c <= b && a < best[0]) best = {a, b, c};
    }
  }
  return best;
}

std::pair<std::uint32_t, std::uint32_t> square_grid() {
  std::uint32_t shorter = 1;
  for (std::uint32_t side = 1; std::uint64_t{side} * side <= procs(); ++side) {
    if (procs() % side == 0) shorter = side;
  }
  return {procs() / shorter, shorter};
}

Range part(std::size_t n, std::size_t pieces, std::size_t i) noexcept {
  return {n * i / pieces, n * (i + 1) / pieces};
}

std::uint64_t checksum(std::span<const double> values, std::uint64_t first) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += mark(first + i, values[i]);
  return sum;
}

int compare(const Runs& runs, const std::function<Outcome(Way)>& solve,
            const std::function<std::uint64_t()>& solve_alone) {
  std::vector<Result> results = asked_for(runs);
  repeat(runs, solve, results);
  int wrong = 0;
  on_one([&] {
    const std::uint64_t expected = runs.verify ? solve_alone() : results.front().checksum;
    std::printf("%u iterations, the fastest of %u repetitions\n", runs.iterations,
                runs.repetitions);
    std::printf("%-10s%14s  checksum\n", "with", "us/iteration");
    for (const Result& result : results) wrong += !report(result, runs, expected);
  });
  return all_bcast(wrong) == 0 ? 0 : 1;
}

}  // namespace examples
