#include "examples/keys/splitters.h"

#include <stdlib.h>

#include "examples/keys/digest.h"

void take_samples(const sort_key* keys, uint64_t count, uint64_t first, tagged_key* samples) {
  const uint64_t number = number_of_samples(count);
  for (uint64_t j = 0; j < number; ++j) {
    const uint64_t within = mix_bits(first + j) >> 32; /* of a piece, in units of 2^-32 */
    const uint64_t i = (j * count + (within * count >> 32)) / number;
    samples[j] = count > 0 ? tag_key(keys[i], first + i) : 0;
  }
}

static int compare(const void* a, const void* b) {
  const tagged_key x = *(const tagged_key*)a, y = *(const tagged_key*)b;
  return (x > y) - (x < y);
}

void choose_splitters(tagged_key* samples, size_t count, uint32_t parts, tagged_key* splitters) {
  qsort(samples, count, sizeof *samples, &compare);
  for (size_t part = 1; part < parts; ++part) splitters[part - 1] = samples[part * count / parts];
}
