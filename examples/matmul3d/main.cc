// The product of two matrices on a grid of processes of three dimensions: A goes along the second
// one, B along the first, and what is to be added up along the third. (R. C. Agarwal et al., A
// three-dimensional approach to parallel matrix multiplication, 1995.)
//
//   ./run matmul3d                                             every way of communicating
//   ./run -n 8 matmul3d --size 256 --grid 2x2x2 --with stores  one
//   ./run -n 4 --nodes 2 matmul3d --verify
//
// Prints the time of an iteration and a checksum of the products of all. Exit code 1 if the
// checksums of two ways differ, or with --verify from that of a serial computation.

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "examples/command_line.h"
#include "examples/matmul3d/exchange.h"

namespace matmul3d {
namespace {

using namespace splitc;
using examples::Way;

constexpr std::size_t kMaxSize = 20'000;

std::unique_ptr<Exchange> make_exchange(Way way, Problem& problem) {
  if (way == Way::kMessages) return with_messages(problem);
  if (way == Way::kStores) return with_stores(problem);
  return with_channels(problem);
}

examples::Outcome solve(Way way, const Decomposition& whole, const examples::Runs& runs) {
  Problem problem(whole);
  const auto exchange = make_exchange(way, problem);
  const double seconds = examples::timed(runs, [&](std::uint32_t i) {
    const unsigned turn = i % 2;
    problem.prepare(turn);
    exchange->exchange(turn, Phase::kInputs);
    problem.multiply(turn);
    exchange->exchange(turn, Phase::kProducts);
    problem.add(turn);
  });
  return {seconds, problem.checksum()};
}

int program(Args args) {
  Decomposition whole{128, {}};
  examples::Runs runs;
  examples::CommandLine line("The product of two matrices, by three ways of communicating.",
                             "matmul3d");
  line.option("--size", whole.n, "rows and columns of the matrices")
      .range(std::size_t{1}, kMaxSize);
  examples::add_option(line, whole.grid);
  examples::add_options(line, runs);
  if (!line.parse(args)) return 0;

  whole.grid = examples::grid_of_all(whole.grid);
  if (whole.n < procs()) {
    throw std::runtime_error("matmul3d: --size " + std::to_string(whole.n) + " is less than the " +
                             std::to_string(procs()) + " processes: some would have nothing to do");
  }
  on_one([&] {
    std::printf("%u processes as %u x %u x %u, matrices of %zu x %zu numbers\n", procs(),
                whole.grid[0], whole.grid[1], whole.grid[2], whole.n, whole.n);
  });
  return examples::compare(
      runs, [&](Way way) { return solve(way, whole, runs); },
      [&] { return serial_checksum(whole, runs.all_iterations()); });
}

}  // namespace
}  // namespace matmul3d

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return matmul3d::program(args); });
}
