// A job that does nothing but start, meet and end, by MPI.
//
//   mpicc -O3 -o mpi_start mpi_start.c
//   mpirun -n 2 mpi_start

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
