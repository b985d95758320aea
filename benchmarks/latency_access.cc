#include <array>
#include <cstdint>

#include "benchmarks/latency.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/compiler.h"
#include "splitc/splitc.h"

// Loops of one access an iteration, each as a program would write it through a global pointer and
// through a raw pointer into the same memory. In both, reads and writes are accesses that the
// compiler may not leave out, move out of the loop or join to vectors, and both get pointers and
// counts of which it knows nothing. They are functions of their own so that one can look at their
// instructions.

namespace latency {
namespace {

using bench::Bench;
using bench::keep;
using bench::opaque;
using Word = std::uint64_t;
using Far = splitc::global_ptr<Word>;

constexpr int kWords = 512;  // 4 KiB: stays in the first cache
constexpr int kPerSync = 64;

Word load(const Word* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
void save(Word* p, Word value) { __atomic_store_n(p, value, __ATOMIC_RELAXED); }

[[gnu::noinline]] Word read_same(Far p, int n) {
  Word sum = 0;
  for (int i = 0; i < n; ++i) sum += *p;
  return sum;
}
[[gnu::noinline]] Word raw_read_same(const Word* p, int n) {
  Word sum = 0;
  for (int i = 0; i < n; ++i) sum += load(p);
  return sum;
}

[[gnu::noinline]] Word read_next(Far p, int n) {
  Word sum = 0;
  for (int i = 0; i < n; ++i) sum += p[i];
  return sum;
}
[[gnu::noinline]] Word raw_read_next(const Word* p, int n) {
  Word sum = 0;
  for (int i = 0; i < n; ++i) sum += load(p + i);
  return sum;
}

[[gnu::noinline]] void write_same(Far p, int n) {
  for (int i = 0; i < n; ++i) *p = static_cast<Word>(i);
}
[[gnu::noinline]] void raw_write_same(Word* p, int n) {
  for (int i = 0; i < n; ++i) save(p, static_cast<Word>(i));
}

[[gnu::noinline]] void write_next(Far p, int n) {
  for (int i = 0; i < n; ++i) p[i] = static_cast<Word>(i);
}
[[gnu::noinline]] void raw_write_next(Word* p, int n) {
  for (int i = 0; i < n; ++i) save(p + i, static_cast<Word>(i));
}

[[gnu::noinline]] void get_next(Word* local, Far p, int n) {
  for (int i = 0; i < n; ++i) splitc::get(local[i], p[i]);
}
// Split-phase operations may be joined until the sync, so the compiler makes vectors of them, and
// of the plain loop beside them.
[[gnu::noinline]] void raw_get_next(Word* local, const Word* p, int n) {
  for (int i = 0; i < n; ++i) local[i] = p[i];
}
[[gnu::noinline]] void raw_put_next(Word* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = static_cast<Word>(i);
}

[[gnu::noinline]] void put_next(Far p, int n) {
  for (int i = 0; i < n; ++i) splitc::put(p[i], static_cast<Word>(i));
}

[[gnu::noinline]] void store_next(Far p, int n) {
  for (int i = 0; i < n; ++i) splitc::store(p + i, static_cast<Word>(i));
}
[[gnu::noinline]] void raw_store_next(Word* p, Word* count, int n) {
  for (int i = 0; i < n; ++i) {
    save(p + i, static_cast<Word>(i));
    // pairs with: nothing; the reader of a real counter would acquire it
    __atomic_store_n(count, load(count) + sizeof(Word), __ATOMIC_RELEASE);
  }
}

void fence() {
  // pairs with: nothing; it is here for what it costs
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Nanoseconds an access of `loop`, a call of which makes `per_call`, at rank 0; rank 1 is idle.
template <class Loop>
double time_of(Bench& b, int per_call, Loop&& loop) {
  if (!b.pair.first()) return 0;
  const int calls = b.count(20000) / per_call + 1;
  const bench::Stopwatch watch;
  for (int call = 0; call < calls; ++call) loop();
  return watch.ns() / calls / per_call;
}

Far far_words(Bench& b) { return Far(opaque(1u), b.pair.buffer_offset()); }
Word* raw_words(Bench& b) { return opaque(reinterpret_cast<Word*>(b.pair.buffer(1))); }

}  // namespace

void reads_and_writes(Bench& b) {
  const Far p = far_words(b);
  Word* const raw = raw_words(b);
  const int n = opaque(kWords);
  const auto timed = [&](auto loop) { return [&b, loop] { return time_of(b, kWords, loop); }; };
  const auto samples = b.pair.interleave(
      b.reps(300),
      {timed([=] { keep(read_same(p, n)); }), timed([=] { keep(raw_read_same(raw, n)); }),
       timed([=] { keep(read_next(p, n)); }), timed([=] { keep(raw_read_next(raw, n)); }),
       timed([=] { write_same(p, n); }), timed([=] { raw_write_same(raw, n); }),
       timed([=] { write_next(p, n); }), timed([=] { raw_write_next(raw, n); })});
  constexpr std::array kNames{"read_*p", "read_p[i]", "write_*p", "write_p[i]"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    b.report.add_time(kNames[i], 8, samples[2 * i], "raw pointer", samples[2 * i + 1]);
  }
}

void gets_and_puts(Bench& b) {
  const Far p = far_words(b);
  Word* const raw = raw_words(b);
  const int n = opaque(kPerSync);
  // Half a page away from the words that are read, modulo 4096: the processor takes a load for one
  // that depends on an earlier store if these low bits agree.
  alignas(4096) static Word words[kWords];
  Word* const local = opaque(&words[kWords / 2]);
  const auto timed = [&](auto loop) { return [&b, loop] { return time_of(b, kPerSync, loop); }; };
  const auto samples = b.pair.interleave(
      b.reps(300),
      {timed([=] { get_next(local, p, n), splitc::sync(); }),
       timed([=] { raw_get_next(local, raw, n), fence(); }),
       timed([=] { raw_get_next(local, raw, n); }), timed([=] { put_next(p, n), splitc::sync(); }),
       timed([=] { raw_put_next(raw, n), fence(); }), timed([=] { raw_put_next(raw, n); })});
  b.report.add_time("get_64_and_sync", 8, samples[0], "raw and fence", samples[1]);
  b.report.add_time("get_64_and_sync_unfenced", 8, samples[0], "raw, no fence", samples[2]);
  b.report.add_time("put_64_and_sync", 8, samples[3], "raw and fence", samples[4]);
  b.report.add_time("put_64_and_sync_unfenced", 8, samples[3], "raw, no fence", samples[5]);
}

void stores(Bench& b) {
  const Far p = far_words(b);
  Word* const raw = raw_words(b);
  const int n = opaque(kWords);
  const auto samples = b.pair.interleave(
      b.reps(300),
      {[&] { return time_of(b, kWords, [&] { store_next(p, n); }); },
       [&] { return time_of(b, kWords, [&] { raw_store_next(raw, raw + 2 * kWords, n); }); }});
  b.report.add_time("store", 8, samples[0], "raw and count", samples[1]);
}

void atomics(Bench& b) {
  const Far p = far_words(b);
  Word* const raw = raw_words(b);
  const auto samples = b.pair.interleave(
      b.reps(300),
      {[&] { return time_of(b, 1, [&] { keep(splitc::fetch_and_add(p, 1)); }); },
       // pairs with: nothing; it is here for what it costs
       [&] { return time_of(b, 1, [&] { keep(__atomic_fetch_add(raw, 1, __ATOMIC_SEQ_CST)); }); }});
  b.report.add_time("fetch_and_add", 8, samples[0], "raw", samples[1]);
}

}  // namespace latency
