// Large transfers between two processes, beside memcpy into the same mapping.

#include <algorithm>
#include <cstring>
#include <vector>

#include "benchmarks/support/clock.h"
#include "benchmarks/support/compiler.h"
#include "benchmarks/support/program.h"
#include "splitc/splitc.h"

namespace {

using bench::Bench;

constexpr std::size_t kPlaces = 8;  // written in turn, as buffers of a stream are

template <class Operation>
double time_of(Bench& b, int count, Operation&& operation) {
  if (!b.pair.first()) return 0;
  const bench::Stopwatch watch;
  for (int i = 0; i < count; ++i) operation(static_cast<std::size_t>(i) % kPlaces);
  splitc::sync();
  return watch.ns() / count;
}

void of_size(Bench& b, std::size_t bytes) {
  const int n = b.count(static_cast<int>(std::clamp<std::size_t>((8u << 20) / bytes, 8, 512)));
  const std::size_t size = bench::opaque(bytes);
  std::byte* const local = bench::opaque(b.pair.source());
  const splitc::global_ptr<std::byte> far(bench::opaque(1u), b.pair.buffer_offset());
  const auto at = [=](std::size_t place) {
    return far + static_cast<std::ptrdiff_t>(place * size);
  };
  const auto samples = b.pair.interleave(
      b.reps(40),
      {[&] { return b.raw.copy(size, n, kPlaces); }, [&] { return b.raw.stream(size, n, kPlaces); },
       [&] { return time_of(b, n, [&](std::size_t i) { splitc::bulk_put(at(i), local, size); }); },
       [&] { return time_of(b, n, [&](std::size_t i) { splitc::bulk_get(local, at(i), size); }); },
       [&] {
         return time_of(b, n, [&](std::size_t i) { splitc::bulk_store(at(i), local, size); });
       },
       [&] { return b.messages.stream_long(size, n, kPlaces); }});
  b.report.add_bandwidth("bulk_put", bytes, samples[2], "memcpy", samples[0]);
  b.report.add_bandwidth("bulk_get", bytes, samples[3], "memcpy", samples[0]);
  b.report.add_bandwidth("bulk_store", bytes, samples[4], "memcpy", samples[0]);
  b.report.add_bandwidth("request_long", bytes, samples[5], "memcpy", samples[0]);
  b.report.add_bandwidth("request_long_streamed", bytes, samples[5], "memcpy and flag", samples[1]);
}

void all_sizes(Bench& b) {
  std::vector<std::size_t> sizes{4u << 10, 64u << 10, 1u << 20, 4u << 20};
  if (b.options.full)
    sizes = {4u << 10, 16u << 10, 64u << 10, 256u << 10, 512u << 10, 1u << 20, 2u << 20, 4u << 20};
  for (const std::size_t bytes : sizes) of_size(b, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "bandwidth",
       .what = "large transfers between two processes",
       .measurements = {
           {"bandwidth", "bulk_put, get, store, request_long with short reply; memcpy, to 8 places",
            all_sizes},
       }});
}
