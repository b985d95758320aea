// The kernels of examples/bale by MPI, on the same input: what each sends is exchanged in rounds
// (mpi_rounds.h). Prints SECONDS,MILLIONS A SECOND,ANSWER of the fastest repetition, where the
// answer is that of examples/bale, or "wrong".
//
//   mpicc -O3 -I ../.. -o mpi_bale mpi_bale.c mpi_bale_matrices.c
//   mpirun -n 2 mpi_bale KERNEL SIZE UPDATES DEGREE [REPETITIONS]
//
// KERNEL: histogram, index_gather, transpose, topological_sort or triangles. SIZE, UPDATES and
// DEGREE are those of examples/bale: words or rows of each process, what each does in the first two
// kernels, and columns that are drawn for a row.

#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_bale.h"

uint32_t rank, procs, size, degree;
static uint64_t updates;

// Where the drawn words are is known before the time begins.
struct place {
  uint32_t proc, local;
};
static struct place* places;
static void draw_places(void) {
  places = room_for(updates, sizeof *places);
  for (uint64_t i = 0; i < updates; ++i) {
    const uint32_t word = draw_word(kSeed, rank, i, size * procs);
    places[i] = (struct place){owner(word), local(word)};
  }
}

// --- Histogram

static int64_t* counts;

static void make_histogram(void) {
  draw_places();
  counts = room_for(size, sizeof(int64_t));
}
static void run_histogram(struct rounds* rounds) {
  memset(counts, 0, sizeof(int64_t) * size);
  uint64_t i = 0;
  for (int more = 1; more;) {
    for (; i < updates && !parcel_is_full(rounds, (int)places[i].proc); ++i) {
      *next_item(rounds, (int)places[i].proc) = places[i].local;
    }
    more = i < updates;
    const int came = exchange_parcels_of(rounds, &more);
    empty_parcels(rounds);
    for (int k = 0; k < came; ++k) ++counts[rounds->in[k]];
  }
}
static uint64_t answer_of_histogram(void) {
  uint64_t answer = 0;
  for (uint32_t i = 0; i < size; ++i) answer += mark_of(global(i), (uint64_t)counts[i]);
  return sum_of_all(answer);
}
static uint64_t updates_of_tables(void) { return updates * procs; }

// --- Index gather

static int64_t *table, *gathered, *replies, *values;
static uint32_t* asked;  // which of `gathered` each item of a parcel is for

static void make_index_gather(void) {
  draw_places();
  table = room_for(size, sizeof(int64_t));
  gathered = room_for(updates, sizeof(int64_t));
  replies = room_for((size_t)procs * kRoom, sizeof(int64_t));
  values = room_for((size_t)procs * kRoom, sizeof(int64_t));
  asked = room_for((size_t)procs * kRoom, sizeof(uint32_t));
  for (uint32_t i = 0; i < size; ++i) table[i] = -(int64_t)global(i) - 1;
}
static void run_index_gather(struct rounds* rounds) {
  uint64_t i = 0;
  for (int more = 1; more;) {
    for (; i < updates && !parcel_is_full(rounds, (int)places[i].proc); ++i) {
      const int to = (int)places[i].proc;
      asked[to * kRoom + rounds->out_count[to]] = (uint32_t)i;
      *next_item(rounds, to) = places[i].local;
    }
    more = i < updates;
    const int came = exchange_parcels_of(rounds, &more);
    for (int k = 0; k < came; ++k) replies[k] = table[rounds->in[k]];
    MPI_Alltoallv(replies, rounds->in_count, rounds->in_at, MPI_INT64_T, values, rounds->out_count,
                  rounds->out_at, MPI_INT64_T, MPI_COMM_WORLD);
    for (int p = 0; p < (int)procs; ++p) {
      const int at = p * kRoom;
      for (int k = at; k < at + rounds->out_count[p]; ++k) gathered[asked[k]] = values[k];
    }
    empty_parcels(rounds);
  }
}
static uint64_t answer_of_index_gather(void) {
  uint64_t answer = 0;
  for (uint64_t i = 0; i < updates; ++i) {
    answer += mark_of((uint32_t)(i * procs + rank), (uint64_t)gathered[i]);
  }
  return sum_of_all(answer);
}

// --- All of them

static const struct kernel tables[] = {
    {"histogram", 1, &make_histogram, &run_histogram, &answer_of_histogram, &updates_of_tables},
    {"index_gather", 1, &make_index_gather, &run_index_gather, &answer_of_index_gather,
     &updates_of_tables},
};
static const struct kernel* kernel_of(const char* name) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i) {
    if (strcmp(name, tables[i].name) == 0) return &tables[i];
  }
  for (int i = 0; i < kMatrixKernels; ++i) {
    if (strcmp(name, matrix_kernels[i].name) == 0) return &matrix_kernels[i];
  }
  return NULL;
}

static void measure(const struct kernel* kernel, int repetitions) {
  struct rounds rounds;
  double least = 0;
  uint64_t answer = 0;
  make_rounds(&rounds, kernel->words);
  kernel->make();
  for (int i = 0; i < repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    kernel->run(&rounds);
    double seconds = MPI_Wtime() - start, most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i == 0 || most < least) least = most;
    answer = kernel->answer();
  }
  const double all = (double)kernel->updates();
  if (rank == 0) printf("%.6f,%.3f,%016" PRIx64 "\n", least, all / least / 1e6, answer);
  free_rounds(&rounds);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, (int*)&rank);
  MPI_Comm_size(MPI_COMM_WORLD, (int*)&procs);
  const struct kernel* const kernel = argc > 4 ? kernel_of(argv[1]) : NULL;
  if (kernel != NULL) {
    size = (uint32_t)atoi(argv[2]);
    updates = strtoull(argv[3], NULL, 10);
    degree = (uint32_t)atoi(argv[4]);
    measure(kernel, argc > 5 ? atoi(argv[5]) : 1);
  } else if (rank == 0) {
    fprintf(stderr, "usage: mpi_bale KERNEL SIZE UPDATES DEGREE [REPETITIONS]\n");
  }
  MPI_Finalize();
  return kernel != NULL ? 0 : 2;
}
