/* Fingerprints of keys: of what sorting keeps, and of what it changes. Sums, so that each process
 * adds up its own and all of them together do not depend on who has which. C: see keys.h. */
#ifndef EXAMPLES_KEYS_DIGEST_H
#define EXAMPLES_KEYS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "examples/keys/keys.h"

/* As examples/random.h has it, for C. */
static inline uint64_t mix_bits(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/* Of a multiset of keys: the same in any order. */
static inline uint64_t multiset_hash(const sort_key* keys, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += mix_bits(keys[i]);
  return sum;
}

/* Of keys in their order, the first of which is number `first` of all. */
static inline uint64_t order_digest(const sort_key* keys, size_t count, uint64_t first) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += mix_bits((first + i) << 32 | keys[i]);
  return sum;
}

#endif
