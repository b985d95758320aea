#include "examples/keys/keys.h"

#include <string.h>

#include "examples/keys/digest.h"

typedef struct sort_problem Problem;

/* A random number of 32 bits for each key, and `which` more. */
static uint64_t draw(const Problem* problem, uint32_t proc, uint64_t i, uint32_t which) {
  const uint64_t stream = mix_bits(problem->seed + ((uint64_t)which << 32 | proc));
  return mix_bits(stream + i) >> 32;
}

/* The first key of bucket `bucket` of `procs` equal ones that all keys are divided into. */
static uint64_t first_of(const Problem* problem, uint64_t bucket) {
  return (bucket << 32) / problem->procs;
}
/* A random key from `first` to below `next`, and one out of a bucket. */
static sort_key between(const Problem* problem, uint32_t proc, uint64_t i, uint64_t first,
                        uint64_t next) {
  return (sort_key)(first + (draw(problem, proc, i, 0) * (next - first) >> 32));
}
static sort_key in_bucket(const Problem* problem, uint32_t proc, uint64_t i, uint64_t bucket) {
  return between(problem, proc, i, first_of(problem, bucket), first_of(problem, bucket + 1));
}

/* Of a process's keys, cut into `parts` parts, the part that key i is in. */
static uint64_t part_of(const Problem* problem, uint64_t i, uint64_t parts) {
  return i * parts / problem->size;
}

/* Every key as likely as any other. */
static sort_key uniform(const Problem* problem, uint32_t proc, uint64_t i) {
  return (sort_key)draw(problem, proc, i, 0);
}

/* The mean of four of those, which is nearly Gaussian. */
static sort_key gaussian(const Problem* problem, uint32_t proc, uint64_t i) {
  uint64_t sum = 0;
  for (uint32_t which = 0; which < 4; ++which) sum += draw(problem, proc, i, which);
  return (sort_key)(sum / 4);
}

/* All the same. */
static sort_key zero(const Problem* problem, uint32_t proc, uint64_t i) {
  return (void)problem, (void)proc, (void)i, 0;
}

/* Bucket sorted: the first of `procs` parts of each process is random in the first bucket, the
 * second in the second. All processes have keys for the same one at a time. */
static sort_key bucket(const Problem* problem, uint32_t proc, uint64_t i) {
  return in_bucket(problem, proc, i, part_of(problem, i, problem->procs));
}

/* g-group: processes in groups of g, whose keys are in g buckets only, the same for all of the
 * group, half of all processes away. g is here the least divisor of `procs` above 1. */
static sort_key group(const Problem* problem, uint32_t proc, uint64_t i) {
  uint64_t g = problem->procs > 1 ? 2 : 1;
  while (problem->procs % g != 0) ++g;
  const uint64_t first = proc / g * g + problem->procs / 2;
  return in_bucket(problem, proc, i, (first + part_of(problem, i, g)) % problem->procs);
}

/* Staggered: all keys of a process are in one bucket; that of the lower half of the processes are
 * 1, 3, 5, ..., of the upper half 0, 2, 4, ... */
static sort_key staggered(const Problem* problem, uint32_t proc, uint64_t i) {
  const uint32_t half = problem->procs / 2;
  return in_bucket(problem, proc, i, proc < half ? 2 * proc + 1 : 2 * (proc - half));
}

/* Worst-case regular: the worst balance for splitters that are taken from regular samples, the last
 * key of every part of a process's keys, as many as processes. The paper has its aim only. Parts 0,
 * 2, ... are in the lower half of the bucket of their number; parts 1, 3, ... in the upper half of
 * that of the part before, but for the sample. In process 0 the sample of part 0 is at the end of
 * that bucket instead, and with it the splitter, which so is behind two parts of all the others:
 * every other process gets nearly the keys of two, and those in between nearly none. */
static sort_key worst(const Problem* problem, uint32_t proc, uint64_t i) {
  const uint64_t part = part_of(problem, i, problem->procs), even = part - part % 2;
  const int sample = i + 1 == problem->size || part_of(problem, i + 1, problem->procs) != part;
  const uint64_t first = first_of(problem, even), next = first_of(problem, even + 1);
  const uint64_t middle = (first + next) / 2;
  if (part == even) {
    return proc == 0 && sample ? (sort_key)(next - 1) : between(problem, proc, i, first, middle);
  }
  return proc == 0 || sample ? in_bucket(problem, proc, i, part)
                             : between(problem, proc, i, middle, next);
}

/* How many times `*n` can be halved until the first half of what is left has `*i`. Both are then
 * of what is left: *n is 1 if that is all. */
static uint64_t halvings(uint64_t* i, uint64_t* n) {
  uint64_t count = 0;
  while (*n > 1 && *i >= *n / 2) {
    *i -= *n / 2;
    *n -= *n / 2;
    ++count;
  }
  return count;
}

/* Deterministic duplicates: all keys of the first half of the processes are log n, of the next
 * quarter log n/2, and so on; the last process has its keys divided likewise. */
static sort_key duplicates(const Problem* problem, uint32_t proc, uint64_t i) {
  uint64_t log = 0;
  while (problem->size * problem->procs >> (log + 1) != 0) ++log;
  uint64_t rank = proc, procs = problem->procs, size = problem->size;
  uint64_t count = halvings(&rank, &procs);
  if (procs == 1) count += halvings(&i, &size);
  return (sort_key)(count < log ? log - count : 0);
}

/* Randomized duplicates: each process draws 32 numbers T below 32, and has a random key below 32
 * for each, which is repeated for T[j] / sum of T of its keys. */
static sort_key random_duplicates(const Problem* problem, uint32_t proc, uint64_t i) {
  enum { kRange = 32 };
  uint64_t sum = 0, before = 0;
  for (uint64_t j = 0; j < kRange; ++j) sum += draw(problem, proc, j, 1) % kRange;
  uint64_t j = 0;
  for (; j + 1 < kRange; ++j) {
    before += draw(problem, proc, j, 1) % kRange;
    if (i * sum < before * problem->size) break;
  }
  return (sort_key)(draw(problem, proc, j, 2) % kRange);
}

const struct key_distribution key_distributions[kDistributions] = {
    {"uniform", &uniform}, {"gaussian", &gaussian},     {"zero", &zero},
    {"bucket", &bucket},   {"group", &group},           {"staggered", &staggered},
    {"worst", &worst},     {"duplicates", &duplicates}, {"random_duplicates", &random_duplicates},
};

const struct key_distribution* key_distribution_named(const char* name) {
  for (int i = 0; i < kDistributions; ++i) {
    if (strcmp(key_distributions[i].name, name) == 0) return &key_distributions[i];
  }
  return NULL;
}

void make_keys(const struct key_distribution* distribution, const struct sort_problem* problem,
               uint32_t proc, sort_key* keys) {
  for (uint64_t i = 0; i < problem->size; ++i) keys[i] = distribution->key(problem, proc, i);
}
