// Radix sort and sample sort of examples/key_sort by MPI: keys are sorted by where they go, as
// there, and MPI_Alltoallv moves them. Keys, sampling, the sort of one process and digests are the
// very functions of that program. Prints a line for each sort, SORT,MILLIONS OF KEYS A
// SECOND,DIGEST, which is "wrong" if the keys are not in order or not those that were to be sorted.
//
//   cd examples/keys
//   mpicc -O3 -I../.. -o mpi_sort ../../benchmarks/rivals/mpi_sort.c *.c
//   mpirun -n 2 mpi_sort DISTRIBUTION SIZE [REPETITIONS [SORT]]
//
// SORT is radix or sample; without it both run.

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/keys/digest.h"
#include "examples/keys/keys.h"
#include "examples/keys/local_sort.h"
#include "examples/keys/splitters.h"

enum { kDigitBits = 11, kBuckets = 1 << kDigitBits };

static int rank, procs;
static struct sort_problem problem;
static const sort_key* input;  // of this process
static sort_key* grouped;      // by where they go
static sort_key *arrived, *spare;
static size_t capacity;  // of each of these two
static uint32_t *counts, *all_counts;
static int *out, *out_at, *in, *in_at;  // of MPI_Alltoallv
static tagged_key *samples, *splitters;

static void* memory(size_t count, size_t each) {
  void* const memory = malloc(count * each + 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memset(memory, 0, count * each + 1);  // touched before time is taken
}
static void reserve(size_t keys) {
  if (keys <= capacity) return;
  free(arrived), free(spare);
  arrived = memory(keys, sizeof(sort_key)), spare = memory(keys, sizeof(sort_key));
  capacity = keys;
}

// Puts into next[] where the keys of each bucket begin if they are in order of these.
static void begins(uint32_t* next, uint32_t buckets) {
  uint32_t before = 0;
  for (uint32_t bucket = 0; bucket < buckets; ++bucket) {
    next[bucket] = before;
    before += counts[bucket];
  }
}
static void exchange_grouped(void) {
  out_at[0] = in_at[0] = 0;
  for (int p = 1; p < procs; ++p) {
    out_at[p] = out_at[p - 1] + out[p - 1];
    in_at[p] = in_at[p - 1] + in[p - 1];
  }
  MPI_Alltoallv(grouped, out, out_at, MPI_UINT32_T, arrived, in, in_at, MPI_UINT32_T,
                MPI_COMM_WORLD);
}

// --- Radix sort. Each process gets problem.size keys, of the lowest digits process 0.

// Of keys with numbers [begin, end), how many process p gets.
static int part_of(uint64_t begin, uint64_t end, int p) {
  const uint64_t first = (uint64_t)p * problem.size, last = first + problem.size;
  if (begin < first) begin = first;
  if (end > last) end = last;
  return begin < end ? (int)(end - begin) : 0;
}
static void count_parts(void) {
  uint64_t number = 0;
  memset(out, 0, sizeof(int) * (size_t)procs), memset(in, 0, sizeof(int) * (size_t)procs);
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (int p = 0; p < procs; ++p) {
      const uint64_t end = number + all_counts[p * kBuckets + bucket];
      in[p] += part_of(number, end, rank);
      for (uint64_t at = number; p == rank && at < end;) {
        const int to = (int)(at / problem.size), count = part_of(at, end, to);
        out[to] += count;
        at += (uint64_t)count;
      }
      number = end;
    }
  }
}
// What came is in order of processes, and there of buckets; now of buckets, and there of processes.
static void place_arrived(sort_key* to) {
  uint64_t number = 0;
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (int p = 0; p < procs; ++p) {
      const uint64_t end = number + all_counts[p * kBuckets + bucket];
      const int count = part_of(number, end, rank);
      memcpy(to, arrived + in_at[p], sizeof(sort_key) * (size_t)count);
      to += count;
      in_at[p] += count;
      number = end;
    }
  }
}
static const sort_key* radix_sort(size_t* count) {
  static uint32_t next[kBuckets];
  const sort_key* keys = input;
  for (int shift = 0; shift < kKeyBits; shift += kDigitBits) {
    memset(counts, 0, sizeof(uint32_t) * kBuckets);
    for (size_t i = 0; i < problem.size; ++i) ++counts[digit_of(keys[i], shift, kDigitBits)];
    MPI_Allgather(counts, kBuckets, MPI_UINT32_T, all_counts, kBuckets, MPI_UINT32_T,
                  MPI_COMM_WORLD);
    begins(next, kBuckets);
    scatter_by_digit(keys, problem.size, shift, kDigitBits, next, grouped);
    count_parts();
    exchange_grouped();
    place_arrived(spare);
    keys = spare;
  }
  *count = problem.size;
  return keys;
}

// --- Sample sort

static const sort_key* sample_sort(size_t* count) {
  const uint64_t first = (uint64_t)rank * problem.size;
  const uint32_t cuts = (uint32_t)procs - 1;
  const int each = (int)number_of_samples(problem.size);
  const size_t all = (size_t)procs * (size_t)each;
  take_samples(input, problem.size, first, samples + all);
  MPI_Allgather(samples + all, each, MPI_UINT64_T, samples, each, MPI_UINT64_T, MPI_COMM_WORLD);
  choose_splitters(samples, all, (uint32_t)procs, splitters);
  memset(counts, 0, sizeof(uint32_t) * (size_t)procs);
  for (size_t i = 0; i < problem.size; ++i) {
    ++counts[part_with(splitters, cuts, tag_key(input[i], first + i))];
  }
  for (int p = 0; p < procs; ++p) out[p] = (int)counts[p];
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  begins(all_counts, (uint32_t)procs);
  for (size_t i = 0; i < problem.size; ++i) {
    grouped[all_counts[part_with(splitters, cuts, tag_key(input[i], first + i))]++] = input[i];
  }
  *count = 0;
  for (int p = 0; p < procs; ++p) *count += (size_t)in[p];
  reserve(*count);
  exchange_grouped();
  return sort_locally(arrived, spare, *count);
}

// --- Checks

static uint64_t sum_of_all(uint64_t mine) {
  uint64_t all;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
// Whether keys are in order, over all processes, and have the multiset's hash.
static int right(const sort_key* keys, size_t count, uint64_t hash) {
  uint64_t wrong = 0;
  for (size_t i = 1; i < count; ++i) wrong += keys[i] < keys[i - 1];
  const uint64_t ends[3] = {count > 0, count ? keys[0] : 0, count ? keys[count - 1] : 0};
  uint64_t* const all = memory((size_t)procs * 3, sizeof(uint64_t));
  MPI_Allgather(ends, 3, MPI_UINT64_T, all, 3, MPI_UINT64_T, MPI_COMM_WORLD);
  for (int p = rank + 1; p < procs; ++p) {
    wrong += count > 0 && all[3 * p] && all[3 * p + 1] < ends[2];
  }
  free(all);
  return sum_of_all(wrong) == 0 && sum_of_all(multiset_hash(keys, count)) == hash;
}

static void measure(const char* sort, const sort_key* (*run)(size_t*), int repetitions) {
  const uint64_t hash = sum_of_all(multiset_hash(input, problem.size));
  double least = 0;
  uint64_t digest = 0;
  int all_right = 1;
  for (int i = 0; i < repetitions; ++i) {
    size_t count;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    const sort_key* const sorted = run(&count);
    double seconds = MPI_Wtime() - start, most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i == 0 || most < least) least = most;
    uint64_t first = 0, mine = count;
    MPI_Exscan(&mine, &first, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    digest = sum_of_all(order_digest(sorted, count, rank == 0 ? 0 : first));
    all_right = right(sorted, count, hash) && all_right;
  }
  if (rank != 0) return;
  printf("%s,%.4f,", sort, (double)problem.size * procs / least / 1e6);
  if (all_right)
    printf("%016llx\n", (unsigned long long)digest);
  else
    printf("wrong\n");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const struct key_distribution* const distribution =
      argc > 2 ? key_distribution_named(argv[1]) : NULL;
  if (distribution == NULL) {
    if (rank == 0) fprintf(stderr, "usage: mpi_sort DISTRIBUTION SIZE [REPETITIONS [SORT]]\n");
    MPI_Finalize();
    return 2;
  }
  problem = (struct sort_problem){(uint32_t)procs, strtoull(argv[2], NULL, 10), 1};
  sort_key* const keys = memory(problem.size, sizeof(sort_key));
  make_keys(distribution, &problem, (uint32_t)rank, keys);
  input = keys;
  grouped = memory(problem.size, sizeof(sort_key));
  reserve(problem.size + problem.size / 4);
  counts = memory(kBuckets + (size_t)procs, sizeof(uint32_t));
  all_counts = memory(kBuckets * (size_t)procs, sizeof(uint32_t));
  int* const numbers = memory(4 * (size_t)procs, sizeof(int));
  out = numbers, out_at = out + procs, in = out_at + procs, in_at = in + procs;
  samples = memory(((size_t)procs + 1) * number_of_samples(problem.size), sizeof(tagged_key));
  splitters = memory((size_t)procs, sizeof(tagged_key));
  const int repetitions = argc > 3 ? atoi(argv[3]) : 3;
  const char* const sort = argc > 4 ? argv[4] : "";
  if (strcmp(sort, "sample") != 0) measure("radix", &radix_sort, repetitions);
  if (strcmp(sort, "radix") != 0) measure("sample", &sample_sort, repetitions);
  MPI_Finalize();
  return 0;
}
