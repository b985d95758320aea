// BYTES (8) there and back by MPI_Send and MPI_Recv between ranks 0 and 1: prints the least and the
// median of REPS (2000) repetitions of 100 round trips, in ns.
//
//   mpicc -O3 -o mpi_ping_pong mpi_ping_pong.c && mpirun -n 2 mpi_ping_pong [REPS [BYTES]]

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRoundTrips = 100 };

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double round_trip_ns(int rank, char* data, int bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < kRoundTrips; ++i) {
    if (rank == 0) {
      MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - start) / kRoundTrips * 1e9;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int reps = argc > 1 ? atoi(argv[1]) : 2000;
  const int bytes = argc > 2 ? atoi(argv[2]) : 8;
  if (size < 2 || reps < 1 || bytes < 1) {
    if (rank == 0)
      fprintf(stderr, "mpi_ping_pong: needs 2 processes, 1 repetition and 1 byte or more\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double* const ns = malloc((size_t)reps * sizeof *ns);
  char* const data = calloc((size_t)bytes, 1);
  for (int rep = 0; rep < reps; ++rep) ns[rep] = round_trip_ns(rank, data, bytes);
  if (rank == 0) {
    qsort(ns, (size_t)reps, sizeof *ns, by_size);
    printf("%.1f %.1f\n", ns[0], ns[reps / 2]);
  }
  free(data);
  free(ns);
  MPI_Finalize();
  return 0;
}
