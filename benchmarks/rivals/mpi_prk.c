// Kernels of examples/prk by MPI: the same data, the same decomposition, the same loops, which are
// compiled from the same sources. Prints a line for each way, WAY,RATE,validates, of the fastest
// repetition, in the units of examples/prk; an answer that is wrong ends the job.
//
//   stencil SIZE RADIUS            a star, in tiles: requests made once
//   transpose ORDER                all blocks by MPI_Alltoallv; or by a request for each
//   synch_p2p WIDTH HEIGHT         a message for each row
//   sparse BITS RADIUS             the whole vector by MPI_Allgatherv; or what is needed by
//   requests random BITS RATIO AHEAD        MPI_Alltoallv; or a request for each process dgemm
//   ORDER PANEL              panels by MPI_Bcast; or by MPI_Ibcast while others are multiplied
//   reduce LENGTH                  MPI_Reduce
//   pic SIZE PARTICLES             MPI_Alltoallv; or a request for each process that gets particles
//
//   mpicc -O3 -ffp-contract=off -fno-exceptions -I../.. -o mpi_prk mpi_prk*.c
//   ../../examples/prk/*.c
//         ../../examples/matmul3d/kernel.cc -lm
//   mpirun -n 2 mpi_prk KERNEL ITERATIONS REPETITIONS SIZE...

#include "mpi_prk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int rank, procs, turn;
unsigned long sizes[4];
static int iterations, repetitions;

// --- Memory, until the end of a repetition

enum { kMostRooms = 64 };
static void* rooms[kMostRooms];
static int rooms_in_use;

void* room_of(size_t count, size_t each) {
  if (rooms_in_use == kMostRooms) MPI_Abort(MPI_COMM_WORLD, 1);
  void* const room = calloc(count + 1, each);
  if (room == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return rooms[rooms_in_use++] = room;
}

// --- Time and answer

static double seconds_of(const struct way* way, double expected) {
  turn = 0;
  way->begin();
  double start = 0;
  for (int i = 0; i <= iterations; ++i, turn ^= 1) {
    if (i == 1) {  // the first one is not timed
      MPI_Barrier(MPI_COMM_WORLD);
      start = MPI_Wtime();
    }
    way->iterate();
  }
  double seconds = MPI_Wtime() - start, most, share = way->found(iterations + 1), found;
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&share, &found, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (!(fabs(found - expected) <= 1e-8 * fmax(1, fabs(expected)))) {
    fprintf(stderr, "%s is wrong: %.17g, not %.17g\n", way->name, found, expected);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (way->end != NULL) way->end();
  while (rooms_in_use > 0) free(rooms[--rooms_in_use]);
  return most / iterations;
}

void measure(const struct way* ways, int count, double work, double (*expected)(double)) {
  double* const least = calloc((size_t)count, sizeof(double));
  for (int i = 0; i < repetitions; ++i) {
    for (int w = 0; w < count; ++w) {
      const double seconds = seconds_of(&ways[w], expected(iterations + 1));
      if (i == 0 || seconds < least[w]) least[w] = seconds;
    }
  }
  for (int w = 0; w < count && rank == 0; ++w) {
    printf("%s,%.6f,validates\n", ways[w].name, work / least[w]);
  }
  free(least);
}

struct tiles make_tiles(void) {
  int across = 1;
  for (int side = 1; side * side <= procs; ++side) {
    if (procs % side == 0) across = side;
  }
  return (struct tiles){across, procs / across, rank % across, rank / across};
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int sizes;
    void (*run)(void);
  } kernels[] = {{"stencil", 2, stencil},      {"transpose", 1, transpose},
                 {"synch_p2p", 2, synch_p2p},  {"sparse", 2, sparse},
                 {"random", 3, random_access}, {"dgemm", 2, dgemm},
                 {"reduce", 1, reduce},        {"pic", 2, pic}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  iterations = argc > 3 ? atoi(argv[2]) : 0;
  repetitions = argc > 3 ? atoi(argv[3]) : 0;
  for (int i = 4; i < argc && i < 8; ++i) sizes[i - 4] = strtoul(argv[i], NULL, 10);
  for (size_t k = 0; iterations > 0 && k < sizeof kernels / sizeof *kernels; ++k) {
    if (strcmp(kernels[k].name, argv[1]) != 0 || argc != 4 + kernels[k].sizes) continue;
    kernels[k].run();
    MPI_Finalize();
    return 0;
  }
  if (rank == 0) fprintf(stderr, "usage: mpi_prk KERNEL ITERATIONS REPETITIONS SIZE...\n");
  MPI_Finalize();
  return 2;
}
