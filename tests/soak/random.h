// Numbers that look random and depend on nothing but what they are made from, so that every process
// of a job draws the same ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace soak {

// The finaliser of splitmix64: a bijection in which every bit depends on every bit.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// One number from several, whose order matters.
template <class... Numbers>
constexpr std::uint64_t hash(Numbers... numbers) noexcept {
  std::uint64_t h = 0;
  ((h = mixed(h + 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(numbers))), ...);
  return h;
}

constexpr std::uint64_t hash(std::string_view text) noexcept {
  std::uint64_t h = 0;
  for (const char c : text) h = hash(h, static_cast<unsigned char>(c));
  return h;
}

// A stream of numbers.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept { return mixed(state_ += 0x9e3779b97f4a7c15u); }
  // 0 to n - 1; n is not 0.
  constexpr std::uint64_t below(std::uint64_t n) noexcept { return next() % n; }
  constexpr std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>(next() % n);
  }
  constexpr int below(int n) noexcept {
    return static_cast<int>(next() % static_cast<std::uint64_t>(n));
  }
  constexpr std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept {
    return least + below(most - least + 1);
  }
  constexpr bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }

  // A number of bytes up to `most`: mostly few, of all magnitudes, and often one at which the
  // library changes its ways (a word, a line, a packet, a page, a frame) or next to it.
  std::uint64_t size(std::uint64_t most) noexcept;

  template <class T>
  void shuffle(std::vector<T>& all) noexcept {
    for (std::size_t n = all.size(); n > 1; --n) std::swap(all[n - 1], all[below(n)]);
  }

 private:
  std::uint64_t state_;
};

inline std::uint64_t Random::size(std::uint64_t most) noexcept {
  static constexpr std::array<std::uint64_t, 14> kEdges = {
      0, 1, 8, 24, 64, 128, 1024, 4096, 8192, 12288, 16384, 65536, 131072, 1048576};
  std::uint64_t bytes = 0;
  if (one_in(3)) {
    bytes = kEdges[below(kEdges.size())] + below(std::uint64_t{3});
    if (bytes != 0) --bytes;
  } else {
    bytes = below(std::uint64_t{1} << below(std::uint64_t{23}));
  }
  return bytes <= most ? bytes : below(most + 1);
}

}  // namespace soak
