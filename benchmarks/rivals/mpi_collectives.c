// What benchmarks/collectives.cc measures, by MPI. Prints "NAME,BYTES,NS" a line, the least of REPS
// (30) repetitions, each until all processes have ended their calls.
//
//   mpicc -O3 -o mpi_collectives mpi_collectives.c && mpirun -n 8 mpi_collectives [REPS]

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLarge = 64 * 1024, kHuge = 16 * kLarge };

static int rank, size, reps;
static char *to, *from;

static void barrier(int i, int bytes) {
  (void)i, (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void broadcast(int i, int bytes) {
  MPI_Bcast(to, bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void broadcast_fixed(int i, int bytes) {
  (void)i;
  MPI_Bcast(to, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void reduce_to_one(int i, int bytes) {
  (void)i;
  MPI_Reduce(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void scan(int i, int bytes) {
  (void)i;
  MPI_Scan(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void gather_to_one(int i, int bytes) {
  (void)i;
  MPI_Gather(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void reduce(int i, int bytes) {
  (void)i;
  MPI_Allreduce(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void all_gather(int i, int bytes) {
  (void)i;
  MPI_Allgather(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void all_to_all(int i, int bytes) {
  (void)i;
  MPI_Alltoall(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static double measure(const char* name, int bytes, void (*call)(int, int)) {
  const int count = bytes <= 1024 ? 200 : bytes <= kLarge ? 20 : 3;
  double least = 1e18;
  for (int rep = 0; rep < reps; ++rep) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < count; ++i) call(i, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double ns = (MPI_Wtime() - start) / count * 1e9;
    MPI_Allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (ns < least) least = ns;
  }
  if (rank == 0) printf("%s,%d,%.1f\n", name, bytes, least);
  return least * 1e-9;
}

// One call, at one process, when the others have begun it.
static void measure_at(int proc, const char* name, int bytes, void (*call)(int, int)) {
  double least = 1e18;
  for (int rep = 0; rep < 10 * reps; ++rep) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    while (rank == proc && MPI_Wtime() - begun < 2e-6) continue;
    const double start = MPI_Wtime();
    call(0, bytes);
    const double ns = (MPI_Wtime() - start) * 1e9;
    if (ns < least) least = ns;
  }
  MPI_Bcast(&least, 1, MPI_DOUBLE, proc, MPI_COMM_WORLD);
  if (rank == 0) printf("%s,%d,%.1f\n", name, bytes, least);
}

// A computation that looks after the call every 2 us.
static void compute(double seconds, MPI_Request* request) {
  const double start = MPI_Wtime();
  int done;
  while (MPI_Wtime() - start < seconds) {
    const double part = MPI_Wtime();
    while (MPI_Wtime() - part < 2e-6) continue;
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
}
static double alone;  // seconds
static void reduce_started(int i, int bytes) {
  (void)i;
  MPI_Request request;
  MPI_Iallreduce(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  if (alone != 0) compute(alone, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  reps = argc > 1 ? atoi(argv[1]) : 30;
  to = malloc((size_t)size * kHuge);
  from = malloc((size_t)size * kHuge);
  if (reps < 1 || to == NULL || from == NULL) {
    if (rank == 0) fprintf(stderr, "mpi_collectives: needs a repetition, and memory\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  // Else all of it would be read from the one page of zeros that the kernel has for such memory.
  memset(to, 1, (size_t)size * kHuge);
  memset(from, 1, (size_t)size * kHuge);
  measure("barrier", 0, barrier);
  measure("broadcast_fixed", 8, broadcast_fixed);
  measure("broadcast", 8, broadcast);
  measure("reduce_to_one", 8, reduce_to_one);
  measure("reduce", 8, reduce);
  measure("scan", 8, scan);
  const int sizes[] = {8, 1024, kLarge, kHuge};
  for (int i = 0; i < 4; ++i) {
    const int bytes = sizes[i];
    if (bytes != 8) {
      measure("broadcast_fixed", bytes, broadcast_fixed);
      measure("broadcast", bytes, broadcast);
      measure("reduce", bytes, reduce);
    }
    measure("gather_to_one", bytes, gather_to_one);
    measure("all_gather", bytes, all_gather);
    measure("all_to_all", bytes, all_to_all);
  }
  measure_at(0, "broadcast_root", 8, broadcast_fixed);
  measure_at(size - 1, "reduce_giver", 8, reduce_to_one);
  double seconds = measure("reduce_alone", kLarge, reduce_started);
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  alone = seconds;
  measure("reduce_and_compute", kLarge, reduce_started);
  free(to);
  free(from);
  MPI_Finalize();
  return 0;
}
