/* Where sample sort cuts the order of all keys into parts, one for each process. C: see keys.h.
 *
 * Equal keys are told apart by where they came from: a key is compared together with its number
 * among all keys, process by process. So they can be cut, too, and a million equal keys are divided
 * among all processes as evenly as any others. */
#ifndef EXAMPLES_KEYS_SPLITTERS_H
#define EXAMPLES_KEYS_SPLITTERS_H

#include <stddef.h>
#include <stdint.h>

#include "examples/keys/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t tagged_key;
static inline tagged_key tag_key(sort_key key, uint64_t number) {
  return (uint64_t)key << 32 | number;
}

/* Samples of each process that has so many keys. With 512 no part was more than a sixth larger than
 * the average; to sort those of few keys would take longer than to sort the keys. */
static inline uint64_t number_of_samples(uint64_t keys) {
  const uint64_t number = keys / 64;
  return number < 32 ? 32 : number < 512 ? number : 512;
}

/* Draws that many of a process's `count` keys, the first of which is number `first`: one from each
 * of as many equal pieces, at random, as regular ones could be all that is rare. There may be fewer
 * keys; of none come samples of zero. */
void take_samples(const sort_key* keys, uint64_t count, uint64_t first, tagged_key* samples);

/* Sorts the `count` samples of all, and takes the first of parts 1, 2, ..., parts - 1 for
 * splitters. */
void choose_splitters(tagged_key* samples, size_t count, uint32_t parts, tagged_key* splitters);

/* How many of `count` splitters are not above `key`: the part that it belongs to. Without a branch,
 * which random keys would have mispredicted every other time. */
static inline uint32_t part_with(const tagged_key* splitters, uint32_t count, tagged_key key) {
  const tagged_key* at = splitters;
  while (count > 0) {
    const uint32_t half = (count + 1) / 2;
    at += half * (at[half - 1] <= key);
    count -= half;
  }
  return (uint32_t)(at - splitters);
}

#ifdef __cplusplus
}
#endif
#endif
