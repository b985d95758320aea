#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "splitc/rpc/pack.h"

// Remote calls whose function and arguments take two words, and whose result takes one, as most do:
// they are packed, travel, run and return in registers. (Bytes that are written one by one and read
// as a word would have to wait until they are in the cache, three times on the way.)

namespace splitc::detail {

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
using Words = std::array<std::uint64_t, 2>;

// Takes its captures and arguments out of two words; returns its result, in the low bytes.
using WordFunction = std::uint64_t(std::uint64_t first, std::uint64_t second);

// The `n` bytes at `from`, from byte `at` of the words on, and back: at most two pieces. All of
// this is known to the compiler.
[[gnu::always_inline]] inline void put_bytes(Words& words, std::size_t at, const void* from,
                                             std::size_t n) noexcept {
  const std::size_t offset = at % kWordBytes;
  const std::size_t first = n < kWordBytes - offset ? n : kWordBytes - offset;
  std::uint64_t part = 0;
  std::memcpy(&part, from, first);
  words[at / kWordBytes] |= part << (8 * offset);
  if (first == n) return;
  std::memcpy(&words[1], static_cast<const std::byte*>(from) + first, n - first);
}
[[gnu::always_inline]] inline void get_bytes(const Words& words, std::size_t at, void* to,
                                             std::size_t n) noexcept {
  const std::size_t offset = at % kWordBytes;
  const std::size_t first = n < kWordBytes - offset ? n : kWordBytes - offset;
  const std::uint64_t part = words[at / kWordBytes] >> (8 * offset);
  std::memcpy(to, &part, first);
  if (first == n) return;
  std::memcpy(static_cast<std::byte*>(to) + first, &words[1], n - first);
}

// Pack and unpack words, as Packer and Unpacker do bytes (splitc/rpc/pack.h).
struct WordPacker {
  Words words{};
  std::size_t bytes = 0;
  [[gnu::always_inline]] void add(const void* from, std::size_t n, std::size_t alignment) noexcept {
    bytes = aligned(bytes, alignment);
    put_bytes(words, bytes, from, n);
    bytes += n;
  }
};
struct WordUnpacker {
  Words words;
  std::size_t bytes = 0;
  template <class T>
  [[gnu::always_inline]] T value() noexcept {
    alignas(T) std::array<std::byte, sizeof(T)> to;
    bytes = aligned(bytes, alignof(T));
    get_bytes(words, bytes, to.data(), sizeof(T));
    bytes += sizeof(T);
    return *reinterpret_cast<const T*>(to.data());
  }
};

template <class X>
concept of_fixed_size = requires {
  X::kBytes;
  X::kAlignment;
};
// How many bytes a function and its arguments take, if that is known: Callable<F>, Argument<A>...
template <class... X>
constexpr bool fit_words() noexcept {
  if constexpr ((of_fixed_size<X> && ...)) {
    std::size_t bytes = 0;
    ((bytes = aligned(bytes, X::kAlignment) + X::kBytes), ...);
    return bytes <= sizeof(Words);
  } else {
    return false;
  }
}

template <class Result>
constexpr bool fits_word() noexcept {
  if constexpr (std::is_void_v<Result>) {
    return true;
  } else {
    return !ResultOf<Result>::is_long && sizeof(Result) <= kWordBytes;
  }
}
template <class Result>
std::uint64_t word_of(const Result& result) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, &result, sizeof result);
  return word;
}

}  // namespace splitc::detail
