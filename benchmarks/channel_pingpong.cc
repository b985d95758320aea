// The round trip of CkDirect's Table 1: 0.1 to 500 thousand bytes there and as many back, by each
// way that the library has, beside the same by hand. Two processes on one node, or on two:
// splitcrun -n 2 [--nodes 2] channel_pingpong. benchmarks/channel_table.sh has MPI's ways, too.

#include "benchmarks/channel_pingpong.h"

#include <algorithm>

#include "am/am.h"

namespace channel_pingpong {
namespace {

using bench::Bench;

constexpr std::size_t kSizes[] = {100,    1000,   5000,   10'000,  20'000,
                                  30'000, 40'000, 70'000, 100'000, 500'000};
constexpr std::size_t kSampleBytes = 10'000'000;  // that a sample moves each way, at most
constexpr int kLeastIterations = 20;
constexpr int kWarmUps = 2;

// Round trips in a sample. benchmarks/rivals/mpi_put.c makes as many.
int iterations(const Bench& b, std::size_t bytes) {
  const int usual = b.pair.near() ? 1000 : 50;  // samples of a millisecond
  return b.count(std::clamp(static_cast<int>(kSampleBytes / bytes), kLeastIterations, usual));
}

bench::Figure figure_of(const Bench& b, const Way& way, std::size_t bytes,
                        const bench::Samples& samples) {
  return {.name = way.name,
          .bytes = bytes,
          .value = samples.minimum(),
          .median = samples.median(),
          .route = b.pair.near() ? "node" : "network"};
}

// Measures them in turn, the first of them the limit of all others, which `shown` also reports
// for itself.
void measure(Bench& b, std::size_t bytes, const std::vector<Way>& ways, bool shown) {
  const int times = iterations(b, bytes);
  std::vector<bench::Pair::Contender> contenders;
  for (const Way& way : ways) {
    contenders.push_back([&way, times] {
      way.run(kWarmUps);
      return way.run(times);
    });
  }
  const auto samples = b.pair.interleave(b.reps(b.pair.near() ? 50 : 60), contenders);
  const bench::Figure limit = figure_of(b, ways.front(), bytes, samples.front());
  if (shown) b.report.add(limit);
  for (std::size_t i = 1; i < ways.size(); ++i) {
    b.report.add(figure_of(b, ways[i], bytes, samples[i]), limit);
  }
}

void measure_channels(Bench& b, std::size_t bytes) {
  std::vector<Way> ways;
  add_raw(ways, b, bytes);
  add_messages(ways, b, bytes);
  add_stores(ways, b, bytes);
  add_channel(ways, b, bytes);
  measure(b, bytes, ways, true);
}

// On its own, for what it has to look at in every poll would slow the others. All processes.
void measure_zero_copies(Bench& b, std::size_t bytes) {
  am::ZeroCopy zero(b.job, b.bundle);
  if (b.job.rank() < 2) {
    std::vector<Way> ways;
    add_raw(ways, b, bytes);
    ways.resize(1);
    add_zero_copies(ways, b, zero, bytes);
    measure(b, bytes, ways, false);
  }
  b.job.barrier(b.bundle);  // nobody needs it any more
}

std::vector<bench::Measurement> measurements() {
  std::vector<bench::Measurement> list;
  for (const std::size_t bytes : kSizes) {
    const std::string name = std::to_string(bytes);
    list.push_back({name, "that many bytes there and back, by messages, stores and channels",
                    [bytes](Bench& b) { measure_channels(b, bytes); }});
  }
  for (const std::size_t bytes : kSizes) {
    list.push_back({"zero_copy_" + std::to_string(bytes), "the same by zero-copy buffers",
                    [bytes](Bench& b) { measure_zero_copies(b, bytes); }, true});
  }
  return list;
}

}  // namespace
}  // namespace channel_pingpong

int main(int argc, char** argv) {
  return bench::run_program_anywhere(
      argc, argv,
      {.name = "channel_pingpong",
       .what = "bytes there and back by channels, stores, messages and zero-copy buffers",
       .measurements = channel_pingpong::measurements()});
}
