// Jacobi's method of examples/jacobi3d by MPI: the same cube, blocks and ghosts, the same loop over
// the points. Prints a line for each way, WAY,MICROSECONDS OF AN ITERATION,CHECKSUM, of the fastest
// repetition.
//
//   persistent   a message for each face, by requests made once; planes are sent from where they
//                are, other faces packed; receives are started an iteration ahead
//   overlap      the same, and what needs no ghosts is computed while they are on their way
//
// Faces that a block has with itself are copied.
//
//   mpicc -O3 -ffp-contract=off -o mpi_jacobi3d mpi_jacobi3d.c
//   mpirun -n 2 mpi_jacobi3d [SIZE [ITERATIONS [REPETITIONS]]]

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

enum { kFaces = 6, kWarmUp = 2 };  // faces: two of each dimension, in front of the block and behind

static int rank, procs;
static size_t side = 48;
static int iterations = 20;
static size_t grid[3];            // processes along each dimension
static size_t begin[3], size[3];  // this process's points
static size_t points[kFaces], ghosts_at[kFaces];
static int neighbour[kFaces];
static double* values[2];  // by turn: the points, behind them the ghosts of each face
static double* packed[kFaces];

// Those of one turn: receives, then sends, of the faces that other processes have.
static MPI_Request receives[2][kFaces], sends[2][kFaces];
static int others;

// --- Who has what, as examples/application.cc and examples/jacobi3d/block.cc decide

static void choose_grid(void) {
  const size_t all = (size_t)procs;
  grid[0] = all, grid[1] = grid[2] = 1;
  for (size_t a = 1; a <= all; ++a) {
    for (size_t b = 1; b <= a && a * b <= all; ++b) {
      const size_t c = all / (a * b);
      if (all % (a * b) == 0 && c <= b && a < grid[0]) grid[0] = a, grid[1] = b, grid[2] = c;
    }
  }
}

static void find_neighbours(void) {
  const size_t at[3] = {(size_t)rank / (grid[1] * grid[2]), (size_t)rank / grid[2] % grid[1],
                        (size_t)rank % grid[2]};
  for (int d = 0; d < 3; ++d) {
    begin[d] = side * at[d] / grid[d];
    size[d] = side * (at[d] + 1) / grid[d] - begin[d];
    for (int behind = 0; behind < 2; ++behind) {
      size_t there[3] = {at[0], at[1], at[2]};
      there[d] = (at[d] + (behind ? 1 : grid[d] - 1)) % grid[d];
      neighbour[2 * d + behind] = (int)((there[0] * grid[1] + there[1]) * grid[2] + there[2]);
    }
  }
}

// Room for the values of both turns, and where the ghosts are.
static void make_room(void) {
  size_t place = size[0] * size[1] * size[2];
  for (int face = 0; face < kFaces; ++face) {
    const int d = face / 2;
    points[face] = size[d == 0 ? 1 : 0] * size[d == 2 ? 1 : 2];
    ghosts_at[face] = place;
    place += points[face];
    packed[face] = malloc(points[face] * sizeof(double));
  }
  values[0] = calloc(place, sizeof(double));
  values[1] = calloc(place, sizeof(double));
}

// --- The halo

// Where the outermost points along a face are one behind the other: in the block, for a plane.
static double* layer(double* from, int face) {
  if (face / 2 > 0) return packed[face];
  return from + (face == 0 ? 0 : size[0] - 1) * size[1] * size[2];
}
static void pack(const double* from, int face, double* to) {
  const size_t last = face % 2 == 0 ? 0 : size[face / 2] - 1, plane = size[1] * size[2];
  if (face / 2 == 0) {
    memcpy(to, from + last * plane, plane * sizeof(double));
  } else if (face / 2 == 1) {
    for (size_t i = 0; i < size[0]; ++i) {
      memcpy(to + i * size[2], from + i * plane + last * size[2], size[2] * sizeof(double));
    }
  } else {
    for (size_t row = 0; row < size[0] * size[1]; ++row) to[row] = from[row * size[2] + last];
  }
}

// A message has the face whose ghosts it brings as its tag.
static void make_requests(void) {
  for (int turn = 0; turn < 2; ++turn) {
    others = 0;
    for (int face = 0; face < kFaces; ++face) {
      if (neighbour[face] == rank) continue;
      MPI_Recv_init(values[turn] + ghosts_at[face], (int)points[face], MPI_DOUBLE, neighbour[face],
                    face, MPI_COMM_WORLD, &receives[turn][others]);
      MPI_Send_init(layer(values[turn], face), (int)points[face], MPI_DOUBLE, neighbour[face],
                    face ^ 1, MPI_COMM_WORLD, &sends[turn][others]);
      ++others;
    }
  }
}

static void start_exchange(int turn) {
  double* const from = values[turn];
  for (int face = 0; face < kFaces; ++face) {
    if (neighbour[face] == rank) {
      pack(from, face, from + ghosts_at[face ^ 1]);
    } else if (face / 2 > 0) {
      pack(from, face, packed[face]);
    }
  }
  MPI_Startall(others, sends[turn]);
}
static void finish_exchange(int turn) {
  MPI_Waitall(others, receives[turn], MPI_STATUSES_IGNORE);
  MPI_Waitall(others, sends[turn], MPI_STATUSES_IGNORE);
}

// --- The points

// A row of points and the four rows around it, with the points in front of it and behind.
struct row {
  const double *at, *above, *below, *before, *behind;
  double left, right;
};

static inline double mean(const struct row* row, size_t k, double left, double right) {
  const double nearer = row->above[k] + row->before[k] + left;
  const double farther = row->below[k] + row->behind[k] + right;
  return (row->at[k] + nearer + farther) * (1.0 / 7);
}

static struct row row_at(const double* from, size_t i, size_t j) {
  const size_t n = size[2], plane = size[1] * n;
  const double* const at = from + (i * size[1] + j) * n;
  const struct row row = {
      .at = at,
      .above = i == 0 ? from + ghosts_at[0] + j * n : at - plane,
      .below = i + 1 == size[0] ? from + ghosts_at[1] + j * n : at + plane,
      .before = j == 0 ? from + ghosts_at[2] + i * n : at - n,
      .behind = j + 1 == size[1] ? from + ghosts_at[3] + i * n : at + n,
      .left = from[ghosts_at[4] + i * size[1] + j],
      .right = from[ghosts_at[5] + i * size[1] + j],
  };
  return row;
}

static void step_ends(const struct row* row, double* next) {
  const size_t n = size[2];
  next[0] = mean(row, 0, row->left, n == 1 ? row->right : row->at[1]);
  if (n > 1) next[n - 1] = mean(row, n - 1, row->at[n - 2], row->right);
}
static void step_middle(const struct row* row, double* restrict next) {
  for (size_t k = 1; k + 1 < size[2]; ++k) {
    next[k] = mean(row, k, row->at[k - 1], row->at[k + 1]);
  }
}

enum part { kAll, kInner, kOuter };  // inner points: no ghost is next to them

static void step(int turn, enum part part) {
  double* next = values[1 - turn];
  for (size_t i = 0; i < size[0]; ++i) {
    for (size_t j = 0; j < size[1]; ++j, next += size[2]) {
      const int inside = i > 0 && i + 1 < size[0] && j > 0 && j + 1 < size[1];
      if (part == kInner && !inside) continue;
      const struct row row = row_at(values[turn], i, j);
      if (part != kInner) step_ends(&row, next);
      if (part != kOuter || !inside) step_middle(&row, next);
    }
  }
}

static void iterate(int turn, int overlap) {
  start_exchange(turn);
  if (overlap) step(turn, kInner);
  finish_exchange(turn);
  step(turn, overlap ? kOuter : kAll);
  MPI_Startall(others, receives[turn]);  // of the iteration after the next
}

// Seconds of the timed iterations.
static double solve(int overlap) {
  size_t at = 0;
  for (size_t i = 0; i < size[0]; ++i) {
    for (size_t j = 0; j < size[1]; ++j) {
      const uint64_t number = ((begin[0] + i) * side + begin[1] + j) * side + begin[2];
      for (size_t k = 0; k < size[2]; ++k) values[0][at++] = fraction(number + k);
    }
  }
  for (int turn = 0; turn < 2; ++turn) MPI_Startall(others, receives[turn]);
  double start = 0;
  for (int i = 0; i < kWarmUp + iterations; ++i) {
    if (i == kWarmUp) {
      MPI_Barrier(MPI_COMM_WORLD);
      start = MPI_Wtime();
    }
    iterate(i % 2, overlap);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < others; ++i) MPI_Cancel(&receives[turn][i]);
    MPI_Waitall(others, receives[turn], MPI_STATUSES_IGNORE);
  }
  return seconds;
}

static uint64_t checksum(const double* from) {
  uint64_t sum = 0, all;
  for (size_t i = 0; i < size[0]; ++i) {
    for (size_t j = 0; j < size[1]; ++j) {
      const uint64_t number = ((begin[0] + i) * side + begin[1] + j) * side + begin[2];
      for (size_t k = 0; k < size[2]; ++k) sum += mark(number + k, *from++);
    }
  }
  MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void run(const char* way, int overlap, int repetitions) {
  double least = 0;
  uint64_t sum = 0;
  for (int i = 0; i < repetitions; ++i) {
    double seconds = solve(overlap), most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i == 0 || most < least) least = most;
    sum = checksum(values[(kWarmUp + iterations) % 2]);
  }
  if (rank == 0)
    printf("%s,%.3f,%016llx\n", way, 1e6 * least / iterations, (unsigned long long)sum);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc > 1) side = strtoull(argv[1], NULL, 10);
  if (argc > 2) iterations = atoi(argv[2]);
  const int repetitions = argc > 3 ? atoi(argv[3]) : 3;
  choose_grid();
  if (side < grid[0] || side > 2000 || iterations < 1 || repetitions < 1) {
    if (rank == 0) fprintf(stderr, "usage: mpi_jacobi3d [SIZE [ITERATIONS [REPETITIONS]]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  find_neighbours();
  make_room();
  make_requests();
  run("persistent", 0, repetitions);
  run("overlap", 1, repetitions);
  MPI_Finalize();
  return 0;
}
