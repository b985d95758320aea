// The elimination of examples/gauss with a search for pivots, by MPI: rows in turn, the pivot's row
// by MPI_Bcast. With SEARCH each, candidates are read one after the other by a process that asks
// for each; with reduce every process finds its own largest, and MPI_Allreduce the largest of all;
// with rows every process shows the row of its own largest by MPI_Allgather, and no MPI_Bcast is
// needed.
// Prints, as examples/gauss does, the exchanges that some process waited for, the most seconds that
// they took in one process, the seconds in all, and the same checksum of the unknowns; a line for
// each repetition.
//
//   mpicc -O3 -ffp-contract=off -o mpi_gauss mpi_gauss.c
//   mpirun -n 2 mpi_gauss [SIZE [SEARCH [REPETITIONS]]]

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

static int size, rank, procs;
static enum { kEach, kReduce, kRows } search;
static double *rows, *pivot, seconds;  // own rows; that of the current column; waited
static double* candidates;             // of kRows: of each process its row's number, and the row
static uint64_t exchanges;
static char* used;
static int* order;

// The coefficients that examples/gauss has by its first seed.
static double coefficient(int row, int column) {
  const uint64_t place = (uint64_t)row * (uint64_t)(size + 1) + (uint64_t)column;
  return 2 * fraction(mix(1) ^ place) - 1;
}

static double* own_row(int row) { return rows + (size_t)(row / procs) * (size_t)(size + 1); }

static void begin(void) { seconds -= MPI_Wtime(); }
static void end(void) {
  seconds += MPI_Wtime();
  ++exchanges;
}

enum { kAsk, kAnswer };

// The owner of rows that `reader` has not answers until it is asked for row -1.
static void answer(int reader, int column) {
  for (;;) {
    int row;
    MPI_Recv(&row, 1, MPI_INT, reader, kAsk, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (row < 0) return;
    MPI_Send(own_row(row) + column, 1, MPI_DOUBLE, reader, kAnswer, MPI_COMM_WORLD);
  }
}

static double ask(int row, int column) {
  if (row % procs == rank) return own_row(row)[column];
  double value;
  begin();
  MPI_Send(&row, 1, MPI_INT, row % procs, kAsk, MPI_COMM_WORLD);
  MPI_Recv(&value, 1, MPI_DOUBLE, row % procs, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  end();
  return value;
}

// At the reader: the row whose coefficient is the largest. Tells all others when that is known.
static int read_each(int column) {
  int best = 0;
  double magnitude = -1;
  for (int row = 0; row < size; ++row) {
    if (used[row]) continue;
    const double one = fabs(ask(row, column));
    if (one > magnitude) magnitude = one, best = row;
  }
  const int over = -1;
  for (int other = 0; other < procs; ++other) {
    if (other != rank) MPI_Send(&over, 1, MPI_INT, other, kAsk, MPI_COMM_WORLD);
  }
  return best;
}

typedef struct {
  double magnitude;
  int row;
} candidate;

static candidate largest_here(int column) {
  candidate mine = {-1, size};
  for (int row = rank; row < size; row += procs) {
    const double one = used[row] ? -1 : fabs(own_row(row)[column]);
    if (one > mine.magnitude) mine.magnitude = one, mine.row = row;
  }
  return mine;
}

// The row whose coefficient is the largest, and the first of equals.
static int reduce(int column) {
  candidate mine = largest_here(column), largest;
  begin();
  MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  end();
  return largest.row;
}

static int find_pivot(int column) {
  if (search == kReduce) return reduce(column);
  const int reader = column % procs;
  begin();
  MPI_Barrier(MPI_COMM_WORLD);
  end();
  int best = rank == reader ? read_each(column) : 0;
  begin();  // whoever does not read waits all the time that it answers
  if (rank != reader) answer(reader, column);
  MPI_Bcast(&best, 1, MPI_INT, reader, MPI_COMM_WORLD);
  end();
  return best;
}

// Finds it, and leaves its row in pivot.
static int gather_rows(int column) {
  const int part = size + 1 - column, each = 1 + part;
  const int own = largest_here(column).row;
  double* const mine = candidates + (size_t)rank * (size_t)each;
  memset(mine, 0, (size_t)each * sizeof(double));
  mine[0] = own;
  if (own < size) memcpy(mine + 1, own_row(own) + column, (size_t)part * sizeof(double));
  begin();
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, candidates, each, MPI_DOUBLE, MPI_COMM_WORLD);
  end();
  const double* best = candidates;
  for (int proc = 1; proc < procs; ++proc) {
    const double* const other = candidates + (size_t)proc * (size_t)each;
    const double a = fabs(other[1]), b = fabs(best[1]);
    if (a != b ? a > b : other[0] < best[0]) best = other;
  }
  memcpy(pivot + column, best + 1, (size_t)part * sizeof(double));
  return (int)best[0];
}

static int spread_pivot(int column) {
  const int row = find_pivot(column);
  if (row % procs == rank)
    memcpy(pivot + column, own_row(row) + column, (size_t)(size + 1 - column) * sizeof(double));
  begin();
  MPI_Bcast(pivot + column, size + 1 - column, MPI_DOUBLE, row % procs, MPI_COMM_WORLD);
  end();
  return row;
}

static void eliminate(double* row, int column) {
  const double factor = row[column] / pivot[column];
  row[column] = 0;
  for (int j = column + 1; j <= size; ++j) row[j] -= factor * pivot[j];
}

static void solve(double* unknowns) {
  for (int column = 0; column < size; ++column) {
    const int row = search == kRows ? gather_rows(column) : spread_pivot(column);
    used[row] = 1;
    order[column] = row;
    for (int i = rank; i < size; i += procs) {
      if (!used[i]) eliminate(own_row(i), column);
    }
  }
  for (int column = size; column-- > 0;) {
    const int row = order[column];
    if (row % procs == rank) {
      double sum = own_row(row)[size];
      for (int j = column + 1; j < size; ++j) sum -= own_row(row)[j] * unknowns[j];
      unknowns[column] = sum / own_row(row)[column];
    }
    begin();
    MPI_Bcast(unknowns + column, 1, MPI_DOUBLE, row % procs, MPI_COMM_WORLD);
    end();
  }
}

static void run(double* unknowns) {
  exchanges = 0, seconds = 0;
  memset(used, 0, (size_t)size);
  for (int i = rank; i < size; i += procs) {
    for (int j = 0; j <= size; ++j) own_row(i)[j] = coefficient(i, j);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  solve(unknowns);
  const double in_all = MPI_Wtime() - start;
  uint64_t all;
  double most;
  MPI_Reduce(&exchanges, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  uint64_t checksum = 0;
  for (int i = 0; i < size; ++i) checksum += mark((uint64_t)i, unknowns[i]);
  printf("%d,%llu,%.6f,%.6f,%016llx\n", size, (unsigned long long)all, most, in_all,
         (unsigned long long)checksum);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  size = argc > 1 ? atoi(argv[1]) : 200;
  const char* const name = argc > 2 ? argv[2] : "each";
  search = strcmp(name, "reduce") == 0 ? kReduce : strcmp(name, "rows") == 0 ? kRows : kEach;
  if (size < 1 || (search == kEach && strcmp(name, "each") != 0)) {
    if (rank == 0) fprintf(stderr, "usage: mpi_gauss [SIZE [each|reduce|rows [REPETITIONS]]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const size_t width = (size_t)(size + 1);
  rows = malloc((size_t)((size + procs - 1) / procs) * width * sizeof(double));
  pivot = malloc(width * sizeof(double));
  candidates = malloc((size_t)procs * (1 + width) * sizeof(double));
  double* const unknowns = malloc(width * sizeof(double));
  used = malloc((size_t)size);
  order = malloc((size_t)size * sizeof(int));
  const int repetitions = argc > 3 ? atoi(argv[3]) : 1;
  for (int i = 0; i < repetitions; ++i) run(unknowns);
  free(order);
  free(used);
  free(unknowns);
  free(candidates);
  free(pivot);
  free(rows);
  MPI_Finalize();
  return 0;
}
