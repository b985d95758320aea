// Numbers that look random, and are the same in every run and process.
#pragma once

#include <bit>
#include <cstdint>

namespace examples {

// Sebastiano Vigna's splitmix64: every bit of the result depends on every bit of x.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A number from 0 to less than 1 for every x.
constexpr double fraction(std::uint64_t x) noexcept {
  return static_cast<double>(mix(x) >> 11) * 0x1p-53;
}

// The sum of these over all numbers, each at its own place, is their checksum. It does not depend
// on who adds what, and sums of numbers that differ in one bit are equal once in 2^64 times.
constexpr std::uint64_t mark(std::uint64_t place, double value) noexcept {
  return mix(mix(place) ^ std::bit_cast<std::uint64_t>(value));
}

}  // namespace examples
