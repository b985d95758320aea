// Elements of any size, for tests of what copies them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace test {

template <std::size_t kBytes>
struct Element {
  std::array<std::uint8_t, kBytes> bytes;
  bool operator==(const Element&) const = default;
};

// One that differs from others with its number: a number itself, or an Element.
template <class T>
T element(std::uint64_t number) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(number % 251);
  } else {
    T made;
    for (std::size_t i = 0; i < sizeof made; ++i) {
      made.bytes[i] = static_cast<std::uint8_t>(number + 31 * i);
    }
    return made;
  }
}

// A number of elements, for the arithmetic of pointers.
inline std::ptrdiff_t step(std::size_t elements) { return static_cast<std::ptrdiff_t>(elements); }

}  // namespace test
