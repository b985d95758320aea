#include <algorithm>
#include <cstring>
#include <vector>

#include "benchmarks/latency.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/compiler.h"
#include "splitc/splitc.h"

namespace latency {
namespace {

using bench::Bench;

// Nanoseconds an operation at rank 0, with one sync() per 64 and one at the end if `synced`.
template <class Operation>
double time_of(Bench& b, int count, bool synced, Operation&& operation) {
  if (!b.pair.first()) return 0;
  const bench::Stopwatch watch;
  for (int i = 1; i <= count; ++i) {
    operation();
    bench::compiler_barrier();
    if (synced && i % 64 == 0) splitc::sync();
  }
  if (synced) splitc::sync();
  return watch.ns() / count;
}

void bulk_of(Bench& b, std::size_t bytes) {
  const int n = b.count(static_cast<int>(std::clamp<std::size_t>((2u << 20) / bytes, 1, 1024)));
  const std::size_t size = bench::opaque(bytes);
  std::byte* const local = bench::opaque(b.pair.source());
  std::byte* const raw = bench::opaque(b.pair.buffer(1));
  const splitc::global_ptr<std::byte> far(bench::opaque(1u), b.pair.buffer_offset());
  const auto timed = [&](bool synced, auto operation) {
    return [&b, n, synced, operation] { return time_of(b, n, synced, operation); };
  };
  const auto samples =
      b.pair.interleave(b.reps(bytes < 1u << 20 ? 200 : 100),
                        {timed(false, [=] { std::memcpy(local, raw, size); }),
                         timed(false, [=] { std::memcpy(raw, local, size); }),
                         timed(false, [=] { splitc::bulk_read(local, far, size); }),
                         timed(false, [=] { splitc::bulk_write(far, local, size); }),
                         timed(true, [=] { splitc::bulk_get(local, far, size); }),
                         timed(true, [=] { splitc::bulk_put(far, local, size); }),
                         timed(false, [=] { splitc::bulk_store(far, local, size); })});
  const bench::Samples& from = samples[0];
  const bench::Samples& to = samples[1];
  b.report.add_time("bulk_read", bytes, samples[2], "memcpy", from);
  b.report.add_time("bulk_write", bytes, samples[3], "memcpy", to);
  b.report.add_time("bulk_get", bytes, samples[4], "memcpy", from);
  b.report.add_time("bulk_put", bytes, samples[5], "memcpy", to);
  b.report.add_time("bulk_store", bytes, samples[6], "memcpy", to);
}

}  // namespace

void bulk(Bench& b) {
  std::vector<std::size_t> sizes{8, 4u << 10, 1u << 20};
  if (b.options.full) sizes = {8, 64, 512, 4u << 10, 32u << 10, 256u << 10, 1u << 20, 4u << 20};
  for (const std::size_t bytes : sizes) bulk_of(b, bytes);
}

}  // namespace latency
