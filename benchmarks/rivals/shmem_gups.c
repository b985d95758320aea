// The updates of examples/gups by OpenSHMEM, in the ways that it has of changing words of others.
// Prints a line for each, STYLE,MILLIONS OF UPDATES A SECOND,WORDS THAT ARE WRONG.
//
//   each     shmem_uint64_atomic_xor and shmem_quiet, one at a time: UPDATES OF each, as of xor
//            (shmem_uint64_atomic_fetch_xor would be the call for it, but in Open MPI 4.1.4 it
//            combines the word with itself)
//   xor      shmem_uint64_atomic_xor, and shmem_quiet for every kAhead
//   rounds   kRound updates of each process, put to each target in one parcel, and a barrier
//
// The table is 2^BITS words of each process, and the same updates once more, each process making
// those of its own words, have to give what it was at first.
//
//   oshcc -O3 -o shmem_gups shmem_gups.c
//   oshrun -n 2 shmem_gups BITS UPDATES [UPDATES OF each]

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "numbers.h"

enum { kAhead = 1024, kRound = 32768 };

static int rank, procs;
static uint64_t words, updates;
static uint64_t* table;  // symmetric, as all that is put into

static uint64_t update(int proc, uint64_t i) { return mix(1 + ((uint64_t)proc << 40) + i); }
static int target_of(uint64_t value) { return (int)((value >> 32) * (uint64_t)procs >> 32); }
static uint64_t word_of(uint64_t value) { return value & (words - 1); }

static void by_each(void) {
  for (uint64_t i = 0; i < updates; ++i) {
    const uint64_t value = update(rank, i);
    shmem_uint64_atomic_xor(&table[word_of(value)], value, target_of(value));
    shmem_quiet();
  }
  shmem_barrier_all();
}

static void by_xor(void) {
  for (uint64_t i = 0; i < updates; ++i) {
    const uint64_t value = update(rank, i);
    shmem_uint64_atomic_xor(&table[word_of(value)], value, target_of(value));
    if (i % kAhead == kAhead - 1) shmem_quiet();
  }
  shmem_barrier_all();
}

// --- Rounds

// What one process has for another in a round.
struct parcel {
  uint64_t count;
  uint64_t values[kRound];
};
static struct parcel *filled, *arrived;  // one for each target; two, by turns, from each source

// A barrier is enough in each: whoever puts into a parcel for the second time has passed the one
// behind which everybody has applied what was in it.
static void by_rounds(void) {
  for (uint64_t first = 0, round = 0; first < updates; first += kRound, ++round) {
    const size_t turn = (size_t)(round % 2) * (size_t)procs;
    for (int p = 0; p < procs; ++p) filled[p].count = 0;
    for (uint64_t i = first; i < first + kRound && i < updates; ++i) {
      const uint64_t value = update(rank, i);
      struct parcel* const parcel = &filled[target_of(value)];
      parcel->values[parcel->count++] = value;
    }
    for (int k = 1; k < procs; ++k) {
      const int p = (rank + k) % procs;
      shmem_putmem(&arrived[turn + (size_t)rank], &filled[p],
                   (1 + filled[p].count) * sizeof(uint64_t), p);
    }
    shmem_barrier_all();
    for (int p = 0; p < procs; ++p) {
      const struct parcel* const from = p == rank ? &filled[p] : &arrived[turn + (size_t)p];
      for (uint64_t i = 0; i < from->count; ++i) table[word_of(from->values[i])] ^= from->values[i];
    }
  }
  shmem_barrier_all();
}

// --- Checks

static uint64_t sum_of_all(uint64_t mine) {
  static uint64_t* counts;  // at process 0
  if (counts == NULL) counts = shmem_malloc((size_t)procs * sizeof *counts);
  shmem_uint64_p(&counts[rank], mine, 0);
  shmem_barrier_all();
  uint64_t sum = 0;
  for (int p = 0; p < procs; ++p) sum += counts[p];
  shmem_barrier_all();
  return sum;
}

static uint64_t wrong_words(void) {
  for (int p = 0; p < procs; ++p) {
    for (uint64_t i = 0; i < updates; ++i) {
      const uint64_t value = update(p, i);
      if (target_of(value) == rank) table[word_of(value)] ^= value;
    }
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < words; ++i) wrong += table[i] != i;
  return sum_of_all(wrong);
}

static double now(void) {
  struct timeval time;
  gettimeofday(&time, NULL);
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

// All ways end with a barrier: process 0 waits for the last.
static void measure(const char* style, void (*run)(void)) {
  for (uint64_t i = 0; i < words; ++i) table[i] = i;
  shmem_barrier_all();
  const double start = now();
  run();
  const double seconds = now() - start;
  const uint64_t wrong = wrong_words();
  if (rank == 0) {
    printf("%s,%.4f,%llu\n", style, (double)updates * procs / seconds / 1e6,
           (unsigned long long)wrong);
  }
}

static void* symmetric(size_t count, size_t each) {
  void* const memory = shmem_calloc(count, each);
  if (memory == NULL) {
    fprintf(stderr,
            "shmem_gups: process %d has no symmetric memory for %zu bytes; allow more by "
            "SHMEM_SYMMETRIC_SIZE\n",
            rank, count * each);
    shmem_global_exit(1);
  }
  return memory;
}

int main(int argc, char** argv) {
  shmem_init();
  rank = shmem_my_pe();
  procs = shmem_n_pes();
  if (argc < 3) {
    if (rank == 0) fprintf(stderr, "usage: shmem_gups BITS UPDATES [UPDATES OF each]\n");
    shmem_global_exit(2);
  }
  words = (uint64_t)1 << atoi(argv[1]);
  const size_t all = (size_t)procs;
  table = symmetric(words, sizeof(uint64_t));
  arrived = symmetric(2 * all, sizeof(struct parcel));
  filled = calloc(all, sizeof(struct parcel));
  const uint64_t many = strtoull(argv[2], NULL, 10);
  updates = argc > 3 ? strtoull(argv[3], NULL, 10) : many;
  measure("each", &by_each);
  measure("xor", &by_xor);
  updates = many;
  measure("rounds", &by_rounds);
  // Instead of shmem_finalize(), in which Open MPI 4.1.4 crashes.
  fflush(stdout);
  shmem_barrier_all();
  shmem_global_exit(0);
}
