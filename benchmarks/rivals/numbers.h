// The numbers of examples/random.h, in C.
#pragma once

#include <stdint.h>
#include <string.h>

// Sebastiano Vigna's splitmix64.
static inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A number from 0 to less than 1 for every x.
static inline double fraction(uint64_t x) { return (double)(mix(x) >> 11) * 0x1p-53; }

// The sum of these over all numbers, each at its own place, is their checksum.
static inline uint64_t mark(uint64_t place, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return mix(mix(place) ^ bits);
}
