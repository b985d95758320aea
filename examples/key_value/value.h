#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/random.h"

namespace key_value {

using Key = std::uint64_t;

// Who has written a value: a process, and the number of the write among its own, from 1 on; and at
// the beginning 0.
struct Stamp {
  std::uint64_t bits;

  static constexpr Stamp of(std::uint32_t writer, std::uint64_t number) noexcept {
    return {number << 24 | writer};
  }
  constexpr std::uint32_t writer() const noexcept { return bits & 0xffffff; }
  constexpr std::uint64_t number() const noexcept { return bits >> 24; }
};

// A value is words that show where they come from: its key, the stamp, and words that follow from
// the two. So who reads a value sees whether it is one that has been written, for this key, and
// whole.
using Words = std::vector<std::uint64_t>;
inline constexpr std::size_t kMinWords = 2;

constexpr std::uint64_t filling(Key key, Stamp stamp, std::size_t i) noexcept {
  return examples::mix(examples::mix(key) ^ stamp.bits) + i;
}

// Fills `words`, at least kMinWords.
inline void make_value(Key key, Stamp stamp, std::span<std::uint64_t> words) noexcept {
  words[0] = key;
  words[1] = stamp.bits;
  for (std::size_t i = kMinWords; i < words.size(); ++i) words[i] = filling(key, stamp, i);
}
// Makes the value of one stamp that of another, out of what is there: of a value that is wrong it
// makes a wrong one.
inline void change_value(std::span<std::uint64_t> words, Stamp stamp) noexcept {
  const Stamp before{words[1]};
  for (std::size_t i = kMinWords; i < words.size(); ++i) {
    words[i] += filling(words[0], stamp, i) - filling(words[0], before, i);
  }
  words[1] = stamp.bits;
}
// Whether it is as it was written, for this key.
inline bool is_value(Key key, std::span<const std::uint64_t> words) noexcept {
  if (words.size() < kMinWords || words[0] != key) return false;
  for (std::size_t i = kMinWords; i < words.size(); ++i) {
    if (words[i] != filling(key, {words[1]}, i)) return false;
  }
  return true;
}

}  // namespace key_value
