// Does some operations of each kind, for statistics_test. Run as two processes; the argument
// is how many threads run() is told of.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "splitc/splitc.h"

namespace {

using namespace splitc;

[[gnu::noinline]] long read_them(global_ptr<long> from, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) sum += from[i];  // line: read
  return sum;
}

constexpr auto add_one = [](int x) { return x + 1; };

}  // namespace

// In a function without a name, as most programs are.
int main(int argc, char** argv) {
  const std::uint32_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  return run(argc, argv, {.threads = threads}, [](Args) {
    constexpr int kCount = 30;
    const std::uint32_t other = 1 - my_proc();
    spread_array<long> all(procs() * kCount, blocked);
    spread_array<std::uint64_t> signals(procs());
    std::vector<long> copy(kCount);
    dist_object<int> one(1);
    auto look_up = aggregate_lookups<int>(one, [](int& mine, int x) { return mine + x; });
    int answer = 0;
    barrier();  // line: barrier
    if (my_proc() == 0) {
      read_them(&all[other * kCount], kCount);
      bulk_get(copy.data(), &all[other * kCount], kCount * sizeof(long));  // line: bulk_get
      const strided third{.rows = kCount / 3, .row_stride = 3};
      get_strided(std::span(copy).first(kCount / 3), &all[other * kCount], third);  // line: strided
      const std::vector<std::uint32_t> ends{0, kCount - 1};
      get_indexed(std::span(copy).last(2), &all[other * kCount], ends);         // line: indexed
      store_each(std::vector{&all[other * kCount]}, std::span(copy).first(1));  // line: each
      sync();
      put_signal(&all[other * kCount], std::span(copy).first(2), &signals[other]);  // line: signal
      for (int i = 0; i < kCount; ++i) store(&all[other * kCount + i], long{i});    // line: store
      for (int i = 0; i < 7; ++i) fetch_and_add(&all[other * kCount], 1L);          // line: atomic
      rpc(other, add_one, 1).wait();                                                // line: rpc
      look_up.get(other, 1, answer);
      look_up.wait();                     // line: lookups
      get(copy[0], all[other * kCount]);  // line: get
      put(all[other * kCount], 1L);       // line: put
      sync();
    }
    all_store_sync();
    barrier();
  });
}
