// The round trip of CkDirect's Table 1: 0.1 to 500 thousand bytes there and as many back, by each
// way that the library has, beside the same by hand. Two processes on one node, or on two:
// splitcrun -n 2 [--nodes 2] channel_pingpong. benchmarks/channel_table.sh has MPI's ways, too.

#include "benchmarks/channel_pingpong.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace channel_pingpong {
namespace {

using bench::Bench;

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

void measure(Bench& b, std::size_t bytes) {
  std::vector<Way> ways;
  add_raw(ways, b, bytes);
  add_messages(ways, b, bytes);
  add_stores(ways, b, bytes);
  add_channel(ways, b, bytes);
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
  b.report.add(limit);
  for (std::size_t i = 1; i < ways.size(); ++i) {
    b.report.add(figure_of(b, ways[i], bytes, samples[i]), limit);
  }
}

// All processes agree on whether the pair is on one node: a third one may not see it.
std::shared_ptr<void> prepare(Bench& b) {
  add_handlers(b.endpoint);
  const bool near = b.job.exchange(std::uint8_t{b.pair.near()}).front() != 0;
  return near ? nullptr : bench::prepare_network(b);
}

std::vector<bench::Measurement> measurements() {
  std::vector<bench::Measurement> list;
  for (const std::size_t bytes :
       {100, 1000, 5000, 10'000, 20'000, 30'000, 40'000, 70'000, 100'000, 500'000}) {
    const std::string name = std::to_string(bytes);
    list.push_back(
        {name, name + " bytes there and back", [bytes](Bench& b) { measure(b, bytes); }});
  }
  return list;
}

}  // namespace
}  // namespace channel_pingpong

int main(int argc, char** argv) {
  return bench::run_program(argc, argv,
                            {.name = "channel_pingpong",
                             .what = "bytes there and back by channels, stores and messages",
                             .measurements = channel_pingpong::measurements(),
                             .anywhere = true,
                             .prepare = channel_pingpong::prepare});
}
