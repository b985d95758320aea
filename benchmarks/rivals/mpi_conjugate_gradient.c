// The conjugate gradients of examples/conjugate_gradient by MPI: Poisson's equation on a square or
// a cube, the same blocks of rows, the same loops. Prints a line for each way,
// WAY,ITERATIONS,SECONDS,CHECKSUM,DIFFERENCE: the checksum of the unknowns, and by how much one of
// them at most differs from that of the first way.
//
//   ordered     sums of all processes are made in their order, of what MPI_Allgather brings: the
//               same bits as in examples/conjugate_gradient
//   allreduce   by MPI_Allreduce, which adds in an order of its own: other roundings
//
// In both the halo is exchanged by requests made once, while rows without ghosts are multiplied.
//
//   mpicc -O3 -ffp-contract=off -o mpi_conjugate_gradient mpi_conjugate_gradient.c -lm
//   mpirun -n 2 mpi_conjugate_gradient [SIZE [DIMENSIONS [REPETITIONS]]]

#include <math.h>
#include <stdio.h>

#include "mpi_parcels.h"
#include "numbers.h"

enum { kMostIterations = 10000 };
static const double kTolerance = 1e-8;

static int rank, procs;
static int side = 100, dimensions = 2, repetitions = 1;
static int block, first, own;  // rows: of a process, the first of this one, and how many it has

// Compressed rows, with columns numbered as this process has the elements: its own, then ghosts.
static int *begins, *columns, *inner, *outer, inners, outers;
static double* entries;
static struct parcels parcels;

static double *p, *q, *r, *x, *b;  // p: with ghosts
static double* parts;              // of a sum
static int in_order;               // whether sums are made in the order of the processes

// --- The matrix, as examples/conjugate_gradient/poisson.cc has it

// The columns and values of one row, in order. Returns how many.
static int row_of(int row, int* column, double* value) {
  const int distance[3] = {1, side, side * side};
  int many = 0;
  for (int d = dimensions; d-- > 0;) {
    if (row / distance[d] % side > 0) column[many] = row - distance[d], value[many++] = -1;
  }
  column[many] = row, value[many++] = 2.0 * dimensions;
  for (int d = 0; d < dimensions; ++d) {
    if (row / distance[d] % side + 1 < side) column[many] = row + distance[d], value[many++] = -1;
  }
  return many;
}

static double drawn(int i) { return 2 * fraction(mix(1) ^ (uint64_t)i) - 1; }

static struct place place_of(int column) { return (struct place){column / block, column % block}; }

static void make_rows(void) {
  int column[7];
  double value[7];
  struct place* const needed = room_for((size_t)own * 7, sizeof *needed);
  int many = 0;
  for (int i = 0; i < own; ++i) {
    const int entries_here = row_of(first + i, column, value);
    for (int k = 0; k < entries_here; ++k) {
      const struct place place = place_of(column[k]);
      if (place.owner != rank) needed[many++] = place;
    }
  }
  many = sort_places(needed, many);
  p = room_for((size_t)(own + many), sizeof(double));
  make_parcels(&parcels, needed, many, p + own);

  int next = 0;
  for (int i = 0; i < own; ++i) {
    const int entries_here = row_of(first + i, column, value);
    int ghosts = 0;
    begins[i] = next;
    for (int k = 0; k < entries_here; ++k, ++next) {
      const struct place place = place_of(column[k]);
      const int ghost = place.owner != rank;
      columns[next] = ghost ? own + find_place(needed, many, place) : place.index;
      entries[next] = value[k];
      b[i] += value[k] * drawn(column[k]);
      ghosts += ghost;
    }
    if (ghosts > 0)
      outer[outers++] = i;
    else
      inner[inners++] = i;
  }
  begins[own] = next;
  free(needed);
}

// --- The iterations

static double sum_of_all(double mine) {
  double sum = 0;
  if (!in_order) {
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }
  MPI_Allgather(&mine, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < procs; ++i) sum += parts[i];
  return sum;
}

static void multiply_rows(const int* rows, int many) {
  for (int i = 0; i < many; ++i) {
    double sum = 0;
    for (int k = begins[rows[i]]; k < begins[rows[i] + 1]; ++k) sum += entries[k] * p[columns[k]];
    q[rows[i]] = sum;
  }
}
// q = A p, and p' q.
static double multiply(void) {
  start_sends(&parcels, p);
  multiply_rows(inner, inners);
  wait_for_receives(&parcels);
  multiply_rows(outer, outers);
  start_receives(&parcels);
  wait_for_sends(&parcels);
  double sum = 0;
  for (int i = 0; i < own; ++i) sum += p[i] * q[i];
  return sum_of_all(sum);
}
// x += step p, r -= step q, and r' r.
static double advance(double step) {
  double sum = 0;
  for (int i = 0; i < own; ++i) {
    x[i] += step * p[i];
    r[i] -= step * q[i];
    sum += r[i] * r[i];
  }
  return sum_of_all(sum);
}

static int solve(double* seconds) {
  for (int i = 0; i < own; ++i) x[i] = 0, p[i] = r[i] = b[i];
  start_receives(&parcels);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double square = advance(0);
  const double enough = kTolerance * kTolerance * square;
  int iterations = 0;
  for (; square > enough && iterations < kMostIterations; ++iterations) {
    const double before = square;
    square = advance(before / multiply());
    const double factor = square / before;
    for (int i = 0; i < own; ++i) p[i] = r[i] + factor * p[i];
  }
  MPI_Barrier(MPI_COMM_WORLD);
  *seconds = MPI_Wtime() - start;
  cancel_receives(&parcels);
  return iterations;
}

static void run(const char* way, double* expected) {
  double least, difference = 0, largest;
  const int iterations = solve(&least);
  for (int i = 1; i < repetitions; ++i) {
    double seconds;
    solve(&seconds);
    if (seconds < least) least = seconds;
  }
  uint64_t sum = 0, all;
  for (int i = 0; i < own; ++i) {
    sum += mark((uint64_t)(first + i), x[i]);
    if (in_order) expected[i] = x[i];
    const double one = isnan(x[i]) ? INFINITY : fabs(x[i] - expected[i]);
    if (one > difference) difference = one;
  }
  MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&difference, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s,%d,%.9f,%016llx,%.1e\n", way, iterations, least, (unsigned long long)all, largest);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc > 1) side = atoi(argv[1]);
  if (argc > 2) dimensions = atoi(argv[2]);
  if (argc > 3) repetitions = atoi(argv[3]);
  if (dimensions < 2 || dimensions > 3 || side < 1 || side > (dimensions == 2 ? 4000 : 250)) {
    if (rank == 0)
      fprintf(stderr, "usage: mpi_conjugate_gradient [SIZE [DIMENSIONS [REPETITIONS]]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int rows = dimensions == 2 ? side * side : side * side * side;
  block = (rows + procs - 1) / procs;
  first = rank * block < rows ? rank * block : rows;
  own = rows - first < block ? rows - first : block;
  const size_t room = (size_t)own;
  begins = room_for(room, sizeof(int));  // and one more
  columns = room_for(room * 7, sizeof(int));
  entries = room_for(room * 7, sizeof(double));
  inner = room_for(room, sizeof(int)), outer = room_for(room, sizeof(int));
  q = room_for(room, sizeof(double)), r = room_for(room, sizeof(double));
  x = room_for(room, sizeof(double)), b = room_for(room, sizeof(double));
  parts = room_for((size_t)procs, sizeof(double));
  double* const expected = room_for(room, sizeof(double));
  make_rows();
  in_order = 1;
  run("ordered", expected);
  in_order = 0;
  run("allreduce", expected);
  MPI_Finalize();
  return 0;
}
