#pragma once

#include "splitc/access/global_ref.h"
#include "splitc/access/word_atomic.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/wake.h"

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
  change_word(kOp, word, x, T());
  fence_behind_atomic();
  wake_owner(mapped(p.bits() & ~kOffsetMask));
}

}  // namespace detail

template <atomic_number T>
void atomic_add(global_ptr<T> p, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  detail::change_one_way<detail::AtomicOp::kAdd>(p, x, {"atomic_add", where});
}
template <atomic_number T>
void atomic_min(global_ptr<T> p, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  detail::change_one_way<detail::AtomicOp::kMin>(p, x, {"atomic_min", where});
}
template <atomic_number T>
void atomic_max(global_ptr<T> p, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  detail::change_one_way<detail::AtomicOp::kMax>(p, x, {"atomic_max", where});
}
template <atomic_word T>
void atomic_and(global_ptr<T> p, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  detail::change_one_way<detail::AtomicOp::kAnd>(p, x, {"atomic_and", where});
}
template <atomic_word T>
void atomic_or(global_ptr<T> p, std::type_identity_t<T> x,
               am::SourceLocation where = am::SourceLocation::current()) {
  detail::change_one_way<detail::AtomicOp::kOr>(p, x, {"atomic_or", where});
}
template <atomic_word T>
void atomic_xor(global_ptr<T> p, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  detail::change_one_way<detail::AtomicOp::kXor>(p, x, {"atomic_xor", where});
}

// --- Through references, as in atomic_add(a[i], 1).

template <atomic_number T>
void atomic_add(const global_ref<T>& r, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  atomic_add(&r, x, where);
}
template <atomic_number T>
void atomic_min(const global_ref<T>& r, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  atomic_min(&r, x, where);
}
template <atomic_number T>
void atomic_max(const global_ref<T>& r, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  atomic_max(&r, x, where);
}
template <atomic_word T>
void atomic_and(const global_ref<T>& r, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  atomic_and(&r, x, where);
}
template <atomic_word T>
void atomic_or(const global_ref<T>& r, std::type_identity_t<T> x,
               am::SourceLocation where = am::SourceLocation::current()) {
  atomic_or(&r, x, where);
}
template <atomic_word T>
void atomic_xor(const global_ref<T>& r, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  atomic_xor(&r, x, where);
}

}  // namespace splitc
