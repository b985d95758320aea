// BYTES there and back by MPI_Send and MPI_Recv between ranks 0 and 1, for each size. Prints a line
// for each, "BYTES NS": the least of REPS repetitions of 100 round trips, fewer repetitions of
// large ones.
//
//   mpicc -O3 -o mpi_ping_pong mpi_ping_pong.c && mpirun -n 2 mpi_ping_pong REPS BYTES...

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRoundTrips = 100 };

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
  const int reps = argc > 2 ? atoi(argv[1]) : 0;
  if (size < 2 || reps < 1) {
    if (rank == 0)
      fprintf(stderr, "mpi_ping_pong: needs 2 processes, 1 repetition and a size or more\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 2; i < argc; ++i) {
    const int bytes = atoi(argv[i]);
    char* const data = calloc((size_t)bytes + 1, 1);
    double least = 1e18;
    for (int rep = 0; rep < 1 + reps / 50 + reps * 1000LL / (1000 + bytes); ++rep) {
      const double ns = round_trip_ns(rank, data, bytes);
      if (ns < least) least = ns;
    }
    if (rank == 0) printf("%d %.1f\n", bytes, least);
    fflush(stdout);
    free(data);
  }
  MPI_Finalize();
  return 0;
}
