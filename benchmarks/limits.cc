// What the machine can do between two processes, by hand and without the library.

#include <algorithm>

#include "benchmarks/support/program.h"

namespace {

using bench::Bench;

void round_trips(Bench& b) {
  const int n = b.count(1000);
  const auto samples = b.pair.interleave(
      b.reps(500), {[&] { return b.raw.one_line(n); }, [&] { return b.raw.two_lines(n); }});
  b.report.add_time("line_both_directions", 8, samples[0]);
  b.report.add_time("line_per_direction", 8, samples[1]);
}

void payload(Bench& b) {
  const int n = b.count(200);
  const auto samples = b.pair.interleave(b.reps(500), {[&] { return b.raw.payload(4096, n); }});
  b.report.add_time("flag_and_payload", 4096, samples[0]);
}

void ring(Bench& b) {
  const int n = b.count(4000);
  const auto samples = b.pair.interleave(b.reps(300), {[&] { return b.raw.ring(n); }});
  b.report.add_time("ring", 8, samples[0]);
}

void flood(Bench& b) {
  const int n = b.count(4000);
  const auto samples = b.pair.interleave(b.reps(300), {[&] { return b.raw.flood(n); }});
  b.report.add_time("pair", 8, samples[0]);
}

void barrier(Bench& b) {
  const int n = b.count(1000);
  const auto samples = b.pair.interleave(b.reps(500), {[&] { return b.raw.barrier(n); }});
  b.report.add_time("barrier", 0, samples[0]);
}

void copies(Bench& b) {
  for (const std::size_t bytes : {4u << 10, 64u << 10, 1u << 20, 16u << 20}) {
    const std::size_t places = std::min<std::size_t>(8, bench::Pair::kBufferBytes / bytes);
    const int n = b.count(static_cast<int>(std::max<std::size_t>(2, (4u << 20) / bytes)));
    const auto samples =
        b.pair.interleave(b.reps(bytes < 16u << 20 ? 50 : 10),
                          {
                              [&] { return b.raw.copy(bytes, n); },
                              [&] { return b.raw.stream(bytes, n, places); },
                              [&] { return b.raw.stream_past_caches(bytes, n, places); },
                          });
    b.report.add_bandwidth("memcpy", bytes, samples[0]);
    b.report.add_bandwidth("memcpy_and_flag", bytes, samples[1]);
    b.report.add_bandwidth("past_caches_and_flag", bytes, samples[2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "limits",
       .what = "what two processes can do by hand through shared memory",
       .measurements =
           {
               {"round_trip", "8 bytes there and back: both in one cache line, one line each",
                round_trips},
               {"payload",
                "4 KiB and a flag there and back; the receiver does not look at the bytes",
                payload},
               {"ring", "8 bytes one way through a ring of 64 cache lines", ring},
               {"flood", "8 bytes there and back in each of 64 cache lines, many at once", flood},
               {"barrier", "two flags", barrier},
               {"copy",
                "memcpy to one place; memcpy, or stores past the caches, and a flag, to eight",
                copies},
           },
       .route = "raw"});
}
