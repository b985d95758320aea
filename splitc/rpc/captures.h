#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/world/place.h"

// What can be seen of the captures of a lambda that goes to another process.

namespace splitc::detail {

// Bytes can be made an object when compiling unless it has a reference or a pointer in it, or a
// union. (The type is trivially copyable.)
template <class F>
concept made_of_bytes = requires {
  typename std::bool_constant<(
      static_cast<void>(__builtin_bit_cast(F, std::array<unsigned char, sizeof(F)>{})), true)>;
};

// Whether a lambda captures something by reference: then it is not of standard layout either, as
// one with a pointer, such as `this`, is. Also true of a captured object of a class with both
// unions or pointers and a mixture of private and public members, or of members of several bases.
template <class F>
inline constexpr bool captures_reference = !std::is_standard_layout_v<F> && !made_of_bytes<F>;

#define SPLITPHASE_NO_REFERENCES                                                               \
  "a lambda that captures by reference ([&], [&x]) cannot run in another process, where that " \
  "address is of something else: capture by value ([=], [x]), and let it return what is to "   \
  "come back. If it captures none: a value with base classes, or with private and public "     \
  "members, and a pointer or union in it, looks the same to the compiler; pass it as an argument"

// In checked builds: says, once for each place, if one of these words is an address of this
// process's stack. That may be meant, of a pointer that only comes back, so it is no Error.
void note_addresses(const void* captures, std::size_t bytes, std::uint32_t proc, Call call);

template <class F>
void check_captures([[maybe_unused]] const F& f, [[maybe_unused]] std::uint32_t proc,
                    [[maybe_unused]] Call call) {
  if constexpr (am::kChecked && std::is_class_v<F> && !std::is_empty_v<F>) {
    if constexpr (!made_of_bytes<F>) note_addresses(&f, sizeof f, proc, call);
  }
}

}  // namespace splitc::detail
