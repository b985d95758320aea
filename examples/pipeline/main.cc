// A chain of processes through which blocks of numbers pass: each works on one block while the next
// one comes and the last one leaves.
//
//   ./run pipeline                                         every way of communicating
//   ./run -n 2 pipeline --points 4000 --with stores        one
//   ./run -n 4 --nodes 2 pipeline --verify
//
// An iteration is a block. Prints the time between two and a checksum of the sum of all. Exit code
// 1 if the checksums of two ways differ, or with --verify from that of a serial computation.

#include <cstdio>
#include <memory>

#include "examples/command_line.h"
#include "examples/pipeline/belt.h"

namespace pipeline {
namespace {

using namespace splitc;
using examples::Way;

std::unique_ptr<Belt> make_belt(Way way, Stage& stage) {
  if (way == Way::kMessages) return with_messages(stage);
  if (way == Way::kStores) return with_stores(stage);
  return with_channels(stage);
}

void pass_block(Stage& stage, Belt& belt, unsigned turn) {
  if (!stage.is_first()) belt.receive(turn);
  if (!stage.is_last()) belt.claim(turn);
  stage.work(turn);
  if (!stage.is_first()) belt.release(turn);
  if (!stage.is_last()) belt.send(turn);
}

examples::Outcome solve(Way way, std::size_t points, const examples::Runs& runs) {
  Stage stage(points);
  const auto belt = make_belt(way, stage);
  const double seconds =
      examples::timed(runs, [&](std::uint32_t i) { pass_block(stage, *belt, i % 2); });
  for (const unsigned turn : {0, 1}) {  // until all buffers are free, and nothing is under way
    if (!stage.is_last()) belt->claim(turn);
  }
  barrier();
  return {seconds, stage.checksum()};
}

int program(Args args) {
  std::size_t points = 2000;
  examples::Runs runs;
  runs.iterations = 1000;
  examples::CommandLine line(
      "Blocks of numbers through a chain of processes, by three ways of communicating.",
      "pipeline");
  line.option("--points", points, "numbers of a block").range(1u, 10'000'000u);
  examples::add_options(line, runs);
  if (!line.parse(args)) return 0;

  on_one([&] { std::printf("%u processes, blocks of %zu numbers\n", procs(), points); });
  return examples::compare(
      runs, [&](Way way) { return solve(way, points, runs); },
      [&] { return serial_checksum(points, runs.all_iterations(), procs()); });
}

}  // namespace
}  // namespace pipeline

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return pipeline::program(args); });
}
