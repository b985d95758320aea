/* The numbers and matrices that the kernels work on: each a function of a seed and a place, so that
 * any process can make any part, and a check needs nothing that was sent.
 *
 * In C, because benchmarks/rivals/mpi_bale.c is compiled from it, too: what is compared there is
 * communication only. */
#ifndef EXAMPLES_BALE_INPUT_H
#define EXAMPLES_BALE_INPUT_H

#include <stdint.h>

#include "examples/keys/digest.h"

enum { kMostDegree = 64 };

/* A number below n, of 64 random bits. */
static inline uint32_t below(uint64_t bits, uint32_t n) {
  return (uint32_t)((bits >> 32) * n >> 32);
}

/* Update i of a process: the index of one of `words` words. */
static inline uint32_t draw_word(uint64_t seed, uint32_t proc, uint64_t i, uint32_t words) {
  return below(mix_bits(seed + ((uint64_t)proc << 40) + i), words);
}

/* Which entries of a square random matrix there are. */
enum pattern { kWhole, kUpperWithDiagonal, kStrictlyLower };

struct random_matrix {
  uint64_t seed;
  uint32_t size;   /* rows, and columns */
  uint32_t degree; /* columns drawn for each row, at most kMostDegree */
  enum pattern pattern;
};

/* Writes the columns of a row, in ascending order and each once, to `columns`, which has room for
 * degree + 1. Returns how many there are. */
static inline uint32_t make_row(const struct random_matrix* matrix, uint32_t row,
                                uint32_t* columns) {
  const uint64_t stream = mix_bits(matrix->seed ^ (uint64_t)row << 8);
  uint32_t count = 0;
  if (matrix->pattern == kUpperWithDiagonal) columns[count++] = row;
  for (uint32_t k = 0; k < matrix->degree; ++k) {
    const uint32_t column = below(mix_bits(stream + k), matrix->size);
    if (matrix->pattern == kUpperWithDiagonal && column < row) continue;
    if (matrix->pattern == kStrictlyLower && column >= row) continue;
    uint32_t at = count;
    while (at > 0 && columns[at - 1] > column) --at;
    if (at > 0 && columns[at - 1] == column) continue;
    for (uint32_t i = count++; i > at; --i) columns[i] = columns[i - 1];
    columns[at] = column;
  }
  return count;
}

/* The weight of the edge from one vertex to another, a fraction of 2^20. Integers, so that the
 * shortest distance does not depend on the order of additions. */
static inline uint64_t weight_of(uint64_t seed, uint32_t from, uint32_t to) {
  return (mix_bits(seed ^ ((uint64_t)from << 32 | to)) >> 44) + 1;
}

/* A permutation of 0 to n - 1: a bijection of the numbers below the next power of two, which is
 * repeated until the result is below n. */
struct permutation {
  uint32_t n, mask, shift;
  uint32_t factor, inverse, summand;
};
enum { kRoundsOfPermutation = 4 };

static inline struct permutation make_permutation(uint32_t n, uint64_t seed) {
  uint32_t bits = 1;
  while (bits < 32 && (n - 1) >> bits != 0) ++bits;
  struct permutation made = {n, 0, 0, 0, 0, 0};
  made.mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
  made.shift = (bits + 1) / 2; /* then x ^ x >> shift undoes itself */
  made.factor = (uint32_t)mix_bits(seed) | 1;
  made.summand = (uint32_t)mix_bits(seed + 1);
  made.inverse = made.factor; /* right in 3 bits; each step of Newton's doubles them */
  for (int i = 0; i < 4; ++i) made.inverse *= 2 - made.factor * made.inverse;
  return made;
}
static inline uint32_t permute(const struct permutation* all, uint32_t x) {
  do {
    for (int i = 0; i < kRoundsOfPermutation; ++i) {
      x = ((x + all->summand) * all->factor) & all->mask;
      x ^= x >> all->shift;
    }
  } while (x >= all->n);
  return x;
}
static inline uint32_t permute_back(const struct permutation* all, uint32_t x) {
  do {
    for (int i = 0; i < kRoundsOfPermutation; ++i) {
      x ^= x >> all->shift;
      x = (x * all->inverse - all->summand) & all->mask;
    }
  } while (x >= all->n);
  return x;
}

/* What an entry of a matrix, or a word of a table, adds to its digest. */
static inline uint64_t mark_of(uint32_t row, uint64_t column) {
  return mix_bits(mix_bits(row) ^ column);
}

#endif
