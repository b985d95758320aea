// The updates of examples/gups by MPI, in the ways that it has of changing words of others. Prints
// a line for each, STYLE,MILLIONS OF UPDATES A SECOND,WORDS THAT ARE WRONG, of the fastest
// repetition and of the worst.
//
//   fetch       MPI_Fetch_and_op and a flush, one at a time: UPDATES OF fetch, as of accumulate
//   accumulate  MPI_Accumulate, and a flush for every kAhead
//   alltoallv   kRound updates of each process, sorted by target, exchanged by MPI_Alltoallv
//   buckets     a bucket of kBucket updates for each target, sent by MPI_Isend when it is full, two
//               for each so that one fills while the other travels; receives that stand ready
//
// The table is 2^BITS words of each process, and the same updates once more, each process making
// those of its own words, have to give what it was at first.
//
//   mpicc -O3 -o mpi_gups mpi_gups.c
//   mpirun -n 2 mpi_gups BITS UPDATES [UPDATES OF fetch [REPETITIONS]]

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

enum { kAhead = 1024, kRound = 32768, kBucket = 512, kReceives = 8 };

static int rank, procs, bits, repetitions = 1;
static uint64_t words, updates;
static uint64_t* table;
static MPI_Win window;

static uint64_t update(int proc, uint64_t i) { return mix(1 + ((uint64_t)proc << 40) + i); }
static int target_of(uint64_t value) { return (int)((value >> 32) * (uint64_t)procs >> 32); }
static uint64_t word_of(uint64_t value) { return value & (words - 1); }

static void apply(const uint64_t* values, int count) {
  for (int i = 0; i < count; ++i) table[word_of(values[i])] ^= values[i];
}

static void by_fetch(void) {
  for (uint64_t i = 0; i < updates; ++i) {
    const uint64_t value = update(rank, i);
    uint64_t before;
    MPI_Fetch_and_op(&value, &before, MPI_UINT64_T, target_of(value), (MPI_Aint)word_of(value),
                     MPI_BXOR, window);
    MPI_Win_flush(target_of(value), window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void by_accumulate(void) {
  static uint64_t ahead[kAhead];
  for (uint64_t i = 0; i < updates; ++i) {
    uint64_t* const value = &ahead[i % kAhead];
    *value = update(rank, i);
    MPI_Accumulate(value, 1, MPI_UINT64_T, target_of(*value), (MPI_Aint)word_of(*value), 1,
                   MPI_UINT64_T, MPI_BXOR, window);
    if (i % kAhead == kAhead - 1) MPI_Win_flush_all(window);
  }
  MPI_Win_flush_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void by_alltoallv(void) {
  static uint64_t drawn[kRound], sorted[kRound];
  uint64_t* const arrived = malloc(sizeof(uint64_t) * kRound * (size_t)procs);
  int* const numbers = calloc(5 * (size_t)procs, sizeof(int));
  int *const out = numbers, *const out_at = out + procs, *const in = out_at + procs,
             *const in_at = in + procs, *const next = in_at + procs;
  for (uint64_t first = 0; first < updates; first += kRound) {
    const int count = updates - first < kRound ? (int)(updates - first) : kRound;
    memset(out, 0, sizeof(int) * (size_t)procs);
    for (int i = 0; i < count; ++i) {
      drawn[i] = update(rank, first + (uint64_t)i);
      ++out[target_of(drawn[i])];
    }
    for (int p = 1; p < procs; ++p) out_at[p] = out_at[p - 1] + out[p - 1];
    memcpy(next, out_at, sizeof(int) * (size_t)procs);
    for (int i = 0; i < count; ++i) sorted[next[target_of(drawn[i])]++] = drawn[i];
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int p = 1; p < procs; ++p) in_at[p] = in_at[p - 1] + in[p - 1];
    MPI_Alltoallv(sorted, out, out_at, MPI_UINT64_T, arrived, in, in_at, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    apply(arrived, in_at[procs - 1] + in[procs - 1]);
  }
  free(numbers);
  free(arrived);
}

// --- Buckets

static uint64_t received[kReceives][kBucket];
static MPI_Request receives[kReceives];
static int finished;  // processes that have sent their last bucket

static void start_receive(int i) {
  MPI_Irecv(received[i], kBucket, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
            &receives[i]);
}
// The last bucket of a process has the tag 1.
static void take_what_came(void) {
  int which, came;
  MPI_Status status;
  for (;;) {
    MPI_Testany(kReceives, receives, &which, &came, &status);
    if (!came || which == MPI_UNDEFINED) return;
    int count;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    apply(received[which], count);
    finished += status.MPI_TAG;
    start_receive(which);
  }
}
static void wait_for_send(MPI_Request* sending) {
  int done = 0;
  while (MPI_Test(sending, &done, MPI_STATUS_IGNORE), !done) take_what_came();
}

struct Buckets {
  uint64_t values[2][kBucket];
  MPI_Request sending;
  int filling;  // 0 or 1
  int count;
};

static void send_bucket(struct Buckets* to, int proc, int tag) {
  wait_for_send(&to->sending);
  MPI_Isend(to->values[to->filling], to->count, MPI_UINT64_T, proc, tag, MPI_COMM_WORLD,
            &to->sending);
  to->filling = 1 - to->filling;
  to->count = 0;
}

static void by_buckets(void) {
  struct Buckets* const all = calloc((size_t)procs, sizeof(struct Buckets));
  finished = 1;  // this one sends nothing to itself
  for (int i = 0; i < kReceives; ++i) start_receive(i);
  for (int p = 0; p < procs; ++p) all[p].sending = MPI_REQUEST_NULL;
  for (uint64_t i = 0; i < updates; ++i) {
    const uint64_t value = update(rank, i);
    const int proc = target_of(value);
    if (proc == rank) {
      table[word_of(value)] ^= value;
      continue;
    }
    struct Buckets* const to = &all[proc];
    to->values[to->filling][to->count++] = value;
    if (to->count == kBucket) {
      send_bucket(to, proc, 0);
      take_what_came();
    }
  }
  for (int p = 0; p < procs; ++p) {
    if (p != rank) send_bucket(&all[p], p, 1);
  }
  for (int p = 0; p < procs; ++p) wait_for_send(&all[p].sending);
  while (finished < procs) take_what_came();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kReceives; ++i) {
    MPI_Cancel(&receives[i]);
    MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
  }
  free(all);
}

static uint64_t wrong_words(void) {
  for (int p = 0; p < procs; ++p) {
    for (uint64_t i = 0; i < updates; ++i) {
      const uint64_t value = update(p, i);
      if (target_of(value) == rank) table[word_of(value)] ^= value;
    }
  }
  uint64_t wrong = 0, all = 0;
  for (uint64_t i = 0; i < words; ++i) wrong += table[i] != i;
  MPI_Allreduce(&wrong, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// Seconds that all updates take.
static double seconds_of(void (*run)(void)) {
  for (uint64_t i = 0; i < words; ++i) table[i] = i;
  MPI_Win_sync(window);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  run();
  double seconds = MPI_Wtime() - start, most;
  MPI_Win_sync(window);
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static void measure(const char* style, void (*run)(void)) {
  double least = 0;
  uint64_t wrong = 0;
  for (int i = 0; i < repetitions; ++i) {
    const double seconds = seconds_of(run);
    const uint64_t wrong_now = wrong_words();
    if (i == 0 || seconds < least) least = seconds;
    if (wrong_now > wrong) wrong = wrong_now;
  }
  if (rank == 0) {
    printf("%s,%.4f,%llu\n", style, (double)updates * procs / least / 1e6,
           (unsigned long long)wrong);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc < 3) {
    if (rank == 0)
      fprintf(stderr, "usage: mpi_gups BITS UPDATES [UPDATES OF fetch [REPETITIONS]]\n");
    MPI_Finalize();
    return 2;
  }
  bits = atoi(argv[1]);
  words = (uint64_t)1 << bits;
  MPI_Win_allocate((MPI_Aint)(words * sizeof(uint64_t)), sizeof(uint64_t), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &table, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  if (argc > 4) repetitions = atoi(argv[4]);
  const uint64_t many = strtoull(argv[2], NULL, 10);
  updates = argc > 3 ? strtoull(argv[3], NULL, 10) : many;
  measure("fetch", &by_fetch);
  measure("accumulate", &by_accumulate);
  updates = many;
  measure("alltoallv", &by_alltoallv);
  measure("buckets", &by_buckets);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
