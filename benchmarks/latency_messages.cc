#include <algorithm>
#include <vector>

#include "am/am.h"
#include "benchmarks/latency.h"
#include "benchmarks/support/clock.h"
#include "splitc/splitc.h"

namespace latency {
namespace {

using bench::Bench;

template <class Pass>
double time_of(int times, Pass&& pass) {
  const bench::Stopwatch watch;
  for (int i = 0; i < times; ++i) pass();
  return watch.ns() / times;
}

}  // namespace

void short_messages(Bench& b) {
  const int n = b.count(1000);
  const auto samples = b.pair.interleave(
      b.reps(400),
      {[&] { return b.messages.short_round_trip(n); }, [&] { return b.raw.one_line(n); }});
  b.report.add_time("short_round_trip", 8, samples[0], "one line", samples[1]);
}

// The same by a bundle that several threads may use, of which there is one.
void parallel_bundles(Bench& b) {
  if (b.job.router().far_peers()) return;
  const int n = b.count(1000);
  am::Bundle parallel(b.job, am::Access::kParallel);
  const auto in_parallel = [&] {
    parallel.adopt(b.endpoint);
    const double ns = b.messages.short_round_trip(n);
    b.bundle.adopt(b.endpoint);
    return ns;
  };
  const auto samples =
      b.pair.interleave(b.reps(400), {in_parallel, [&] { return b.messages.short_round_trip(n); }});
  b.report.add_time("parallel_bundle", 8, samples[0], "sequential", samples[1]);
}

void medium_messages(Bench& b) {
  const int n = b.count(200);
  const std::size_t bytes = am::max_medium();
  const auto samples =
      b.pair.interleave(b.reps(400), {[&] { return b.messages.medium_round_trip(bytes, n); },
                                      [&] { return b.raw.payload(bytes, n); }});
  b.report.add_time("medium_round_trip", bytes, samples[0], "copy and flag", samples[1]);
}

void long_messages(Bench& b) {
  std::vector<std::size_t> sizes{8, 4u << 10, 1u << 20};
  if (b.options.full) sizes = {8, 64, 512, 4u << 10, 32u << 10, 256u << 10, 1u << 20, 4u << 20};
  for (const std::size_t bytes : sizes) {
    const int n = b.count(static_cast<int>(std::clamp<std::size_t>((1u << 20) / bytes, 1, 200)));
    const auto samples = b.pair.interleave(b.reps(bytes < 1u << 20 ? 200 : 100),
                                           {[&] { return b.messages.long_round_trip(bytes, n); },
                                            [&] { return b.raw.payload(bytes, n); }});
    b.report.add_time("long_round_trip", bytes, samples[0], "copy and flag", samples[1]);
  }
}

void barriers(Bench& b) {
  if (b.job.size() != 2) return;  // the others would have to take part
  const int n = b.count(1000);
  const auto samples =
      b.pair.interleave(b.reps(400), {[&] { return time_of(n, [&] { b.job.barrier(b.bundle); }); },
                                      [&] { return time_of(n, [] { splitc::barrier(); }); },
                                      [&] { return b.raw.barrier(n); }});
  b.report.add_time("am_barrier", 0, samples[0], "two flags", samples[2]);
  b.report.add_time("splitc_barrier", 0, samples[1], "two flags", samples[2]);
}

void barriers_of_all(Bench& b) {
  if (b.job.size() == 2) return;  // measured beside its limit
  const int n = b.count(200);
  bench::Samples samples;
  const int reps = b.reps(20);
  for (int rep = 0; rep < reps; ++rep) {
    samples.add(time_of(n, [] { splitc::barrier(); }));
  }
  b.report.add_time("splitc_barrier_of_" + std::to_string(b.job.size()), 0, samples);
}

}  // namespace latency
