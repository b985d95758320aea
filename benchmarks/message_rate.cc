// How many small operations a second: credit bounds them, not the time that one takes.

#include <cstdint>

#include "benchmarks/support/clock.h"
#include "benchmarks/support/compiler.h"
#include "benchmarks/support/program.h"
#include "splitc/splitc.h"

namespace {

using bench::Bench;
using Word = std::uint64_t;

void pairs(Bench& b) {
  const int n = b.count(4000);
  const auto samples = b.pair.interleave(
      b.reps(600), {[&] { return b.messages.flood(n); }, [&] { return b.raw.ring(n); },
                    [&] { return b.raw.flood(n); }});
  b.report.add_time("request_reply_pair", 8, samples[0], "ring", samples[1]);
  b.report.add_time("request_reply_pair", 8, samples[0], "pair by hand", samples[2]);
}

void one_way(Bench& b) {
  const int n = b.count(4000);
  const auto samples = b.pair.interleave(
      b.reps(600), {[&] { return b.messages.one_way(n); }, [&] { return b.raw.ring(n); }});
  b.report.add_rate("one_way", 8, samples[0], "ring", samples[1]);
}

constexpr int kWords = 512;

// `operation(p + i)` over 4 KiB of rank 1 again and again; `finish()` at the end.
template <class Operation, class Finish>
double time_of(Bench& b, Operation&& operation, Finish&& finish) {
  const splitc::global_ptr<Word> p(bench::opaque(1u), b.pair.buffer_offset());
  const int rounds = b.count(20);
  const bench::Stopwatch watch;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kWords; ++i) operation(p + i, static_cast<Word>(i));
  }
  finish();
  return watch.ns() / rounds / kWords;
}

// Rank 1 waits for what rank 0 stores, looking at the count all the time; rank 0 hears when all is
// there. The raw loop counts and waits in the same way.
double stores_of(Bench& b) {
  const auto bytes = sizeof(Word) * kWords * static_cast<std::uint64_t>(b.count(20));
  const bench::Stopwatch watch;
  if (b.pair.first()) {
    time_of(
        b, [](auto p, Word value) { splitc::store(p, value); }, [] {});
  } else {
    splitc::store_sync(bytes);
  }
  b.raw.barrier(1);
  return watch.ns() * sizeof(Word) / static_cast<double>(bytes);
}

double raw_stores_of(Bench& b) {
  const auto bytes = sizeof(Word) * kWords * static_cast<std::uint64_t>(b.count(20));
  auto* const words = bench::opaque(reinterpret_cast<Word*>(b.pair.buffer(1)));
  shmem::Flag& count = b.pair.board().stored;
  const std::uint64_t end = count.value() + bytes;
  b.raw.barrier(1);  // nobody stores before both know the end
  const bench::Stopwatch watch;
  if (b.pair.first()) {
    for (std::uint64_t i = 0; i < bytes / sizeof(Word); ++i) {
      __atomic_store_n(words + i % kWords, i, __ATOMIC_RELAXED);
      count.publish(count.word.load(std::memory_order_relaxed) + sizeof(Word));
    }
  } else {
    bench::spin_until([&] { return count.value() >= end; });
  }
  b.raw.barrier(1);
  return watch.ns() * sizeof(Word) / static_cast<double>(bytes);
}

void store_rate(Bench& b) {
  const auto samples = b.pair.interleave(
      b.reps(200), {[&] { return stores_of(b); }, [&] { return raw_stores_of(b); }});
  b.report.add_rate("store", 8, samples[0], "raw and count", samples[1]);
}

double raw_puts_of(Bench& b) {
  auto* const words = bench::opaque(reinterpret_cast<Word*>(b.pair.buffer(1)));
  const int rounds = b.count(20);
  const bench::Stopwatch watch;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kWords; ++i) {
      __atomic_store_n(words + i, static_cast<Word>(i), __ATOMIC_RELAXED);
    }
  }
  return watch.ns() / rounds / kWords;
}

void put_rate(Bench& b) {
  const auto put = [](auto p, Word value) { splitc::put(p, value); };
  const auto samples = b.pair.interleave(
      b.reps(200), {[&] { return b.pair.first() ? time_of(b, put, [] { splitc::sync(); }) : 0; },
                    [&] { return b.pair.first() ? raw_puts_of(b) : 0; }});
  b.report.add_rate("put", 8, samples[0], "raw", samples[1]);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "message_rate",
       .what = "how many small operations a second pass between two processes",
       .measurements = {
           {"pairs",
            "short requests and replies, ns a pair; a ring of 64 cache lines one way; pairs by "
            "hand",
            pairs},
           {"one_way", "short requests that nobody answers; the same ring", one_way},
           {"store", "stores that the other process counts; a raw store and a count", store_rate},
           {"put", "puts with one sync at the end; raw stores", put_rate},
       }});
}
