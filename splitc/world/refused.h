#pragma once

#include <cstddef>

// What a call says for which no function takes what the program passes. It would be a list of all
// functions of the name and of why each does not; behind them stands one that takes anything,
//
//   void put(refused<"put(p, value): ...">, anything);
//
// to which an argument converts only if no other function takes it, as its own conversion is the
// worst there is. That conversion is deleted, so the compiler refuses the call with the sentence,
// and a `requires` finds that the call is not possible.

namespace splitc::detail {

template <std::size_t kBytes>
struct Sentence {
  char text[kBytes];
  constexpr Sentence(const char (&from)[kBytes]) noexcept {
    for (std::size_t i = 0; i < kBytes; ++i) text[i] = from[i];
  }
};

template <Sentence kSentence>
struct refused {
  template <class X>
  refused(const X&) = delete;
};
// Any further argument, or none.
struct anything {
  anything() noexcept;
  template <class X>
  anything(const X&) noexcept;
};

}  // namespace splitc::detail
