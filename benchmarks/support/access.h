#pragma once

#include <cstddef>
#include <cstdint>

#include "benchmarks/support/clock.h"
#include "benchmarks/support/compiler.h"
#include "benchmarks/support/messages.h"
#include "benchmarks/support/pair.h"
#include "benchmarks/support/program.h"
#include "splitc/splitc.h"

// Reads and writes of rank 0 in rank 1's memory. Both ranks call the same functions; each returns
// nanoseconds per operation at rank 0.
namespace bench {

// Memory of rank 1 for words.
inline splitc::global_ptr<std::uint64_t> far_words(Bench& b) {
  return splitc::global_ptr<std::uint64_t>(opaque(1u), b.pair.buffer_offset());
}

// Of `count` times operation(i) and then sync(). Rank 1 handles what comes meanwhile.
template <class Operation>
double until_synced(Bench& b, int count, Operation&& operation) {
  double ns = 0;
  if (b.pair.first()) {
    const Stopwatch watch;
    for (int i = 0; i < count; ++i) operation(i);
    splitc::sync();
    ns = watch.ns() / count;
  }
  b.messages.serve_until_through();
  return ns;
}

// Of `count` times store(i), of `bytes` each. Rank 1 waits for all, and then tells rank 0.
template <class Store>
double until_stored(Bench& b, int count, std::size_t bytes, Store&& store) {
  const Stopwatch watch;
  if (b.pair.first()) {
    for (int i = 0; i < count; ++i) store(i);
  } else {
    splitc::store_sync(bytes * static_cast<std::size_t>(count));
  }
  b.messages.one_way(1);
  return watch.ns() / count;
}

}  // namespace bench
