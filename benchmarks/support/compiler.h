#pragma once

#include <atomic>

// What keeps the compiler from measuring nothing.

namespace bench {

// Makes the compiler forget what it knows of `value` (a number or a pointer that fits a register),
// at no cost at run time. Before a loop: bounds, pointers and ranks are then no constants.
template <class T>
inline T opaque(T value) noexcept {
  asm("" : "+r"(value));
  return value;
}

// Makes the compiler believe that somebody looks at `value`.
template <class T>
inline void keep(const T& value) noexcept {
  asm("" : : "r"(value) : "memory");
}

// The compiler moves no access across it; it is no instruction to the processor.
inline void compiler_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace bench
