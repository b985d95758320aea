#pragma once

#include "splitc/access/global_ref.h"
#include "splitc/access/word_atomic.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/segment.h"

// Atomic changes that nobody waits for: of a word near, the processor's instruction; of one far, a
// message without an answer. quiesce() completes those of all processes.
//
//   for (const unsigned char byte : text) atomic_add(bins[byte], 1);
//   quiesce();                                                         // all are counted
//
// They change words of 1, 2, 4 or 8 bytes, add, min and max also floating ones, and mix with
// fetch_and_add() and its sisters (splitc/access/word_atomic.h). Order: none between words; to one
// word of one process, any. They are visible to who sees what this process does after quiesce().
//
// Cost: as fetch_and_add() near, and rpc_ff() far: 6 million a second over TCP, where an aggregator
// (splitc/rpc/aggregator.h) makes more than 100. The world's thread; near ones in handlers, too.
// Errors as fetch_and_add() and rpc_ff() have them.

namespace splitc {

namespace detail {

template <AtomicOp kOp, atomic_number T>
void change_one_way(global_ptr<T> p, T x, Call call) {
  T* const word = word_at(p, call);
  if (word == nullptr) [[unlikely]] {
    check_far(p.bits(), sizeof(T), call);
    start_one_way<true>(p.proc(), call,
                        AtObject<T, void (*)(T&, T)>{
                            [](T& there, T y) { change_word(kOp, &there, y, T()); }, p.offset()},
                        x);
    return;
  }
  change_near<kOp>(word, x, T());
  wake_owner(mapped(p.bits() & ~kOffsetMask));
}

}  // namespace detail

// Each for a pointer and for a reference, as in atomic_add(a[i], 1).
#define SPLITC_ONE_WAY(name, words, op)                                 \
  template <words T>                                                    \
  void name(global_ptr<T> p, std::type_identity_t<T> x,                 \
            am::SourceLocation where = am::SourceLocation::current()) { \
    detail::change_one_way<detail::AtomicOp::op>(p, x, {#name, where}); \
  }                                                                     \
  template <words T>                                                    \
  void name(const global_ref<T>& r, std::type_identity_t<T> x,          \
            am::SourceLocation where = am::SourceLocation::current()) { \
    name(&r, x, where);                                                 \
  }
SPLITC_ONE_WAY(atomic_add, atomic_number, kAdd)
SPLITC_ONE_WAY(atomic_min, atomic_number, kMin)
SPLITC_ONE_WAY(atomic_max, atomic_number, kMax)
SPLITC_ONE_WAY(atomic_and, atomic_word, kAnd)
SPLITC_ONE_WAY(atomic_or, atomic_word, kOr)
SPLITC_ONE_WAY(atomic_xor, atomic_word, kXor)
#undef SPLITC_ONE_WAY

}  // namespace splitc
