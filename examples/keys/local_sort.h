/* Radix sort of one process, digit by digit from the least significant one. C: see keys.h. */
#ifndef EXAMPLES_KEYS_LOCAL_SORT_H
#define EXAMPLES_KEYS_LOCAL_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "examples/keys/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kKeyBits = 32, kMostDigitBits = 16 };

/* The `bits` bits of the key from bit `shift` on. */
static inline uint32_t digit_of(sort_key key, int shift, int bits) {
  return key >> shift & ((1u << bits) - 1);
}

/* Sorts `count` keys; `keys` and `spare` are as long. Returns which of both has them then. */
sort_key* sort_locally(sort_key* keys, sort_key* spare, size_t count);

/* A step of it: copies each key to to[next[digit]++]. */
void scatter_by_digit(const sort_key* keys, size_t count, int shift, int bits, uint32_t* next,
                      sort_key* to);

#ifdef __cplusplus
}
#endif
#endif
