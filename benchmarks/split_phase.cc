// What operations cost that carry a function, or are waited for together, beside what lies beneath:
// remote calls beside request and reply, a far atomic beside 64 of them, a task beside sync(). On
// one node, or splitcrun -n 2 --nodes 2 split_phase.

#include <array>
#include <cstdint>

#include "benchmarks/support/access.h"
#include "benchmarks/support/network_program.h"
#include "splitc/splitc.h"

namespace {

using bench::Bench;
using Word = std::uint64_t;

constexpr int kAhead = 64;  // operations under way

bool far(Bench& b) { return !b.pair.near(); }
int trips(Bench& b) { return b.count(far(b) ? 50 : 1000); }

splitc::future<Word> call(Word n) {
  return splitc::rpc(
      1, [](Word x) { return x + 1; }, n);
}

void calls(Bench& b) {
  const int n = trips(b);
  const auto one = [&] {
    return bench::until_synced(b, n,
                               [&](int i) { bench::keep(call(static_cast<Word>(i)).result()); });
  };
  const auto samples =
      b.pair.interleave(b.reps(400), {one, [&] { return b.messages.short_round_trip(n); }});
  b.report.add_time("rpc", 8, samples[0], "request, reply", samples[1]);
}

void calls_together(Bench& b) {
  const int n = b.count(4096) / kAhead * kAhead;
  const auto together = [&] {
    return bench::until_synced(b, n, [&](int i) {
      static_cast<void>(call(static_cast<Word>(i)));  // its result is dropped
      if (i % kAhead == kAhead - 1) splitc::sync();
    });
  };
  const auto samples =
      b.pair.interleave(b.reps(300), {together, [&] { return b.messages.flood(n); }});
  b.report.add_rate("rpc_64_ahead", 8, samples[0], "request, reply", samples[1]);
}

// From rank 1 to rank 0, as one_way().
void one_way_calls(Bench& b) {
  const int n = b.count(4000);
  static std::uint64_t seen = 0;
  static std::uint64_t expected = 0;
  const auto fire = [&] {
    const bench::Stopwatch watch;
    if (b.pair.first()) {
      expected += static_cast<std::uint64_t>(n);
      b.bundle.wait_until([] { return seen == expected; });
    } else {
      for (int i = 0; i < n; ++i)
        splitc::rpc_ff(
            0, [](Word) { ++seen; }, static_cast<Word>(i));
    }
    return watch.ns() / n;
  };
  const auto samples =
      b.pair.interleave(b.reps(300), {fire, [&] { return b.messages.one_way(n); }});
  b.report.add_rate("rpc_ff", 8, samples[0], "one-way request", samples[1]);
}

void atomics(Bench& b) {
  const auto p = bench::far_words(b);
  const int n = b.count(far(b) ? 2048 : 20000) / kAhead * kAhead + kAhead;
  std::array<Word, kAhead> old{};
  const auto together = [&] {
    return bench::until_synced(b, n, [&](int i) {
      const int place = i % kAhead;
      splitc::start_fetch_and_add(old[static_cast<std::size_t>(place)], p + place, 1);
      if (place == kAhead - 1) splitc::sync();
    });
  };
  const int alone = far(b) ? b.count(100) : n;
  const auto one = [&] {
    return bench::until_synced(
        b, alone, [&](int i) { bench::keep(splitc::fetch_and_add(p + i % kAhead, 1)); });
  };
  const auto samples = b.pair.interleave(b.reps(100), {together, one});
  b.report.add_rate("start_fetch_and_add_64", 8, samples[0], "fetch_and_add", samples[1]);
}

splitc::task<Word> read_by_task(splitc::global_ptr<Word> p) { co_return co_await splitc::get(p); }

// Near gets are complete when they have been started, far ones are waited for.
void tasks(Bench& b) {
  const auto p = bench::far_words(b);
  const int n = trips(b);
  const auto by_task = [&] {
    return bench::until_synced(b, n, [&](int) { bench::keep(read_by_task(p).result()); });
  };
  Word local = 0;
  const auto by_sync = [&] {
    return bench::until_synced(b, n, [&](int) {
      splitc::get(local, p);
      splitc::sync();
      bench::keep(local);
    });
  };
  const auto samples = b.pair.interleave(b.reps(400), {by_task, by_sync});
  b.report.add_time("co_await_get", 8, samples[0], "get, sync", samples[1]);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program_anywhere(
      argc, argv,
      {.name = "split_phase",
       .what =
           "remote calls, and operations that are waited for together, beside what lies beneath",
       .measurements = {
           {"rpc", "rpc(..).result(); request and reply", calls},
           {"rpc_64_ahead", "how many rpc() a second, 64 ahead; request and reply", calls_together},
           {"rpc_ff", "how many rpc_ff() a second; one-way requests", one_way_calls},
           {"atomic", "start_fetch_and_add, 64 and one sync(); fetch_and_add one at a time",
            atomics},
           {"task", "co_await get(p) in a task; get and sync()", tasks},
       }});
}
