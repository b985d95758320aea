// Jacobi's method on a box of points that continues at its other end: every point becomes the mean
// of itself and its six neighbours, over and over. Each process has a block, and sends its six
// outermost layers to its neighbours in every iteration.
//
//   ./run jacobi3d                                              every way of communicating
//   ./run -n 2 jacobi3d --size 32 --grid 1x1x2 --with stores    one
//   ./run -n 8 --nodes 2 jacobi3d --size 64x64x32 --overlap --verify
//   SPLITC_SEGMENT=5G ./run -n 2 jacobi3d --size 1024x1024x512   16 bytes for each point
//
// Prints the time of an iteration and a checksum of the values that all leave. Exit code 1 if the
// checksums of two ways differ, or with --verify from that of a serial computation.

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "examples/command_line.h"
#include "examples/jacobi3d/halo.h"

namespace jacobi3d {
namespace {

using namespace splitc;
using examples::Way;

std::unique_ptr<Halo> make_halo(Way way, Block& block) {
  if (way == Way::kMessages) return with_messages(block);
  if (way == Way::kStores) return with_stores(block);
  return with_channels(block);
}

examples::Outcome solve(Way way, const Decomposition& whole, const examples::Runs& runs,
                        bool overlap) {
  Block block(whole);
  const auto halo = make_halo(way, block);
  const double seconds = examples::timed(runs, [&](std::uint32_t i) {
    const unsigned turn = i % 2;
    halo->start(turn);
    if (overlap) block.step(turn, Part::kInner);
    halo->finish(turn);
    block.step(turn, overlap ? Part::kOuter : Part::kAll);
  });
  return {seconds, block.checksum(runs.all_iterations() % 2)};
}

int program(Args args) {
  Grid size{48, 48, 48};
  Grid grid{};
  bool overlap = false;
  examples::Runs runs;
  examples::CommandLine line("Jacobi's method on a box of points, by three ways of communicating.",
                             "jacobi3d");
  examples::add_size_option(line, size);
  line.flag("--overlap", overlap, "compute what needs no ghosts while these are on their way");
  examples::add_option(line, grid);
  examples::add_options(line, runs);
  if (!line.parse(args)) return 0;

  grid = examples::grid_of_all(grid);
  for (std::size_t d = 0; d < grid.size(); ++d) {
    if (grid[d] > size[d]) {
      throw std::runtime_error("jacobi3d: --size " + examples::text_of(size) +
                               " has no points for " + std::to_string(grid[d]) +
                               " processes along a dimension");
    }
  }
  const Decomposition whole(size, grid);
  on_one([&] {
    const Size block = whole.size(0);
    std::printf("%u processes as %u x %u x %u, blocks of %zu x %zu x %zu points\n", procs(),
                grid[0], grid[1], grid[2], block[0], block[1], block[2]);
  });
  return examples::compare(
      runs, [&](Way way) { return solve(way, whole, runs, overlap); },
      [&] { return serial_checksum(size, runs.all_iterations()); });
}

}  // namespace
}  // namespace jacobi3d

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return jacobi3d::program(args); });
}
