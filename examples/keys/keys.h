/* The keys that are sorted: nine distributions, each of which is hard for some way of sorting.
 *
 * They are those of Helman, Bader, JaJa: A Randomized Parallel Sorting Algorithm with an
 * Experimental Study, J. Parallel and Distributed Computing 52, 1998. There a key has 31 bits and
 * comes from random(); here it has 32 and is a function of seed, process and index, so that any
 * process can make those of any other, and every run has the same.
 *
 * This and the other .h and .c files of the folder are in C because benchmarks/rivals/mpi_sort.c
 * is compiled from them, too: what is compared there is communication only. */
#ifndef EXAMPLES_KEYS_KEYS_H
#define EXAMPLES_KEYS_KEYS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t sort_key;

/* procs * size is at most kMostKeys, so that the number of a key, and how many there are, have 32
 * bits. */
struct sort_problem {
  uint32_t procs;
  uint64_t size; /* keys of each process */
  uint64_t seed;
};
static const uint64_t kMostKeys = UINT32_MAX;

struct key_distribution {
  const char* name;
  sort_key (*key)(const struct sort_problem* problem, uint32_t proc, uint64_t i);
};
enum { kDistributions = 9 };
extern const struct key_distribution key_distributions[kDistributions];

/* The one of that name; null if there is none. */
const struct key_distribution* key_distribution_named(const char* name);

/* Writes the keys of a process, as many as the problem says. */
void make_keys(const struct key_distribution* distribution, const struct sort_problem* problem,
               uint32_t proc, sort_key* keys);

#ifdef __cplusplus
}
#endif
#endif
