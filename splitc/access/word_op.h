#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "splitc/access/access.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"

// What the atomics of word_atomic.h do to a word, by the process that has it mapped: the caller, or
// for one of another node its owner.

namespace am {
class Endpoint;
}

namespace splitc::detail {

// Those of integers alone are a range of these numbers, in has_op(). change_word() and
// change_integer() make the change, and the latter takes any that it does not name for kXor. Macros
// make the calls: word_atomic.h, splitc/rpc/atomic.h.
enum class AtomicOp : std::uint8_t {
  kAdd,             // a
  kExchange,        // a
  kCompareAndSwap,  // a for b
  kAnd,
  kOr,
  kXor,
  kMin,
  kMax,
};

// How the word is to be read. The number travels.
struct WordType {
  std::uint8_t bytes;
  bool is_signed;
  bool is_float;
};
template <class T>
inline constexpr WordType word_type_of{sizeof(T), std::is_signed_v<T>, std::floating_point<T>};

template <class T>
inline constexpr bool has_op(AtomicOp op) noexcept {
  return std::integral<T> || op < AtomicOp::kAnd || op > AtomicOp::kXor;
}

// Makes it f(before), by comparing and swapping.
template <class T, class F>
T change_by_swap(T* word, F f) noexcept {
  using Word = UnsignedOf<sizeof(T)>;
  auto* const bits = reinterpret_cast<Word*>(word);
  Word before = __atomic_load_n(bits, __ATOMIC_RELAXED);
  // pairs with: the atomics of other processes
  while (!__atomic_compare_exchange_n(bits, &before,
                                      std::bit_cast<Word>(f(std::bit_cast<T>(before))), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return std::bit_cast<T>(before);
}

// By one instruction. pairs with: the atomics of other processes
template <std::integral T>
T change_integer(AtomicOp op, T* word, T a) noexcept {
  switch (op) {
    case AtomicOp::kAdd: return __atomic_fetch_add(word, a, __ATOMIC_SEQ_CST);
    case AtomicOp::kAnd: return __atomic_fetch_and(word, a, __ATOMIC_SEQ_CST);
    case AtomicOp::kOr: return __atomic_fetch_or(word, a, __ATOMIC_SEQ_CST);
    default: return __atomic_fetch_xor(word, a, __ATOMIC_SEQ_CST);
  }
}

// Does it, and returns the value before. Inlined with a constant `op`, an instruction or a loop.
template <class T>
inline T change_word(AtomicOp op, T* word, T a, T b) noexcept {
  using Word = UnsignedOf<sizeof(T)>;
  auto* const bits = reinterpret_cast<Word*>(word);
  switch (op) {
    case AtomicOp::kExchange:
      // pairs with: the atomics of other processes
      return std::bit_cast<T>(__atomic_exchange_n(bits, std::bit_cast<Word>(a), __ATOMIC_SEQ_CST));
    case AtomicOp::kCompareAndSwap: {
      Word expected = std::bit_cast<Word>(b);
      // pairs with: the atomics of other processes
      __atomic_compare_exchange_n(bits, &expected, std::bit_cast<Word>(a), false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST);
      return std::bit_cast<T>(expected);
    }
    case AtomicOp::kMin:
      return change_by_swap(word, [a](T before) { return a < before ? a : before; });
    case AtomicOp::kMax:
      return change_by_swap(word, [a](T before) { return before < a ? a : before; });
    default: break;
  }
  if constexpr (std::integral<T>) {
    return change_integer(op, word, a);
  } else {
    return change_by_swap(word, [a](T before) { return before + a; });
  }
}

// The bytes of a word, as it travels.
template <class T>
std::uint64_t word_bits(T x) noexcept {
  return std::bit_cast<UnsignedOf<sizeof(T)>>(x);
}
template <class T>
T word_of_bits(std::uint64_t bits) noexcept {
  using Word = UnsignedOf<sizeof(T)>;
  return std::bit_cast<T>(static_cast<Word>(bits));
}

// --- On words of other nodes: a request to the owner, which does it with the processor's own
// instruction. So the same word may be changed from its node and from others at the same time,
// which an atomic of the network hardware would not allow.

// What the owner is to do; it travels as it is.
struct FarAtomic {
  AtomicOp op;
  WordType type;
  std::uint32_t ticket;  // that waits for the answer: start_far_atomic() sets it
  std::uint64_t bits;    // a global pointer to the word
  std::uint64_t a;       // see AtomicOp
  std::uint64_t b;
};
static_assert(sizeof(FarAtomic) == 32);
// Waits for the old value. Throws Error inside a handler.
std::uint64_t change_far_atomically(const FarAtomic& change, Call call);
// The old value will be in `before`, a word of that type, unless it is nullptr.
handle start_far_atomic(const FarAtomic& change, void* before, Call call);

// Every process does so at the same point among its handlers, whatever program it runs: the index
// of a handler is all that travels.
void add_atomic_handlers(am::Endpoint& endpoint);

}  // namespace splitc::detail
