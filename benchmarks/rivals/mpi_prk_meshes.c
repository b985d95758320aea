// Of mpi_prk.c: the kernels on a mesh, which communicate with neighbours.

#include <math.h>
#include <string.h>

#include "examples/prk/loops.h"
#include "mpi_prk.h"

static double nothing(double iterations) { return 0 * iterations; }

// --- Stencil. Sides: left, right, above, below.

enum { kSides = 4 };
static struct tiles tiles;
static struct span columns, rows, active_columns, active_rows;
static ptrdiff_t radius;
static double *points, *first, *result, *weights;
static struct prk_tile shape;  // of the tile
static int others;             // neighbours
static struct {
  int neighbour, opposite;
  double *edge, *ghosts, *sent[2], *arrived[2];
  size_t width, height;
} sides[kSides];
static MPI_Request receives[2][kSides], sends[2][kSides];

static void add_side(int x, int y, int side) {
  if (tiles.x + x < 0 || tiles.x + x >= tiles.across || tiles.y + y < 0 ||
      tiles.y + y >= tiles.down) {
    return;
  }
  const ptrdiff_t pitch = (ptrdiff_t)shape.pitch;
  const ptrdiff_t last_x = (ptrdiff_t)shape.width - radius;
  const ptrdiff_t last_y = (ptrdiff_t)shape.height - radius;
  const size_t width = x == 0 ? shape.width : (size_t)radius;
  const size_t height = y == 0 ? shape.height : (size_t)radius;
  sides[others].neighbour = (tiles.y + y) * tiles.across + tiles.x + x;
  sides[others].edge = first + (y > 0 ? last_y : 0) * pitch + (x > 0 ? last_x : 0);
  sides[others].ghosts = sides[others].edge + (y * pitch + x) * radius;
  sides[others].width = width, sides[others].height = height;
  for (int t = 0; t < 2; ++t) {
    double* const sent = sides[others].sent[t] = room_of(width * height, sizeof(double));
    double* const arrived = sides[others].arrived[t] = room_of(width * height, sizeof(double));
    MPI_Send_init(sent, (int)(width * height), MPI_DOUBLE, sides[others].neighbour, side,
                  MPI_COMM_WORLD, &sends[t][others]);
    MPI_Recv_init(arrived, (int)(width * height), MPI_DOUBLE, sides[others].neighbour, side ^ 1,
                  MPI_COMM_WORLD, &receives[t][others]);
  }
  ++others;
}

static struct span inside(struct span span) {
  const size_t border = (size_t)radius, end = sizes[0] - border;
  if (span.begin < border) span.begin = border;
  if (span.end > end) span.end = end;
  if (span.end < span.begin) span.end = span.begin;
  return span;
}

static void begin_stencil(void) {
  tiles = make_tiles();
  radius = (ptrdiff_t)sizes[1];
  columns = part_of(sizes[0], tiles.across, tiles.x);
  rows = part_of(sizes[0], tiles.down, tiles.y);
  active_columns = inside(columns), active_rows = inside(rows);
  const size_t width = length_of(columns), height = length_of(rows);
  shape = (struct prk_tile){width, height, width + 2 * (size_t)radius};
  points = room_of(shape.pitch * (height + 2 * (size_t)radius), sizeof(double));
  result = room_of(length_of(active_columns) * length_of(active_rows), sizeof(double));
  weights = room_of((size_t)((2 * radius + 1) * (2 * radius + 1)), sizeof(double));
  prk_weights(1, radius, weights);
  first = points + (size_t)radius * shape.pitch + radius;
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      first[y * shape.pitch + x] = (double)(columns.begin + x + rows.begin + y);
    }
  }
  others = 0;
  add_side(-1, 0, 0), add_side(1, 0, 1), add_side(0, -1, 2), add_side(0, 1, 3);
  for (int t = 0; t < 2; ++t) MPI_Startall(others, receives[t]);
}

static void copy_rows(const double* from, size_t from_pitch, double* to, size_t to_pitch,
                      size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row, from += from_pitch, to += to_pitch) {
    for (size_t i = 0; i < width; ++i) to[i] = from[i];
  }
}

static void iterate_stencil(void) {
  for (int s = 0; s < others; ++s) {
    copy_rows(sides[s].edge, shape.pitch, sides[s].sent[turn], sides[s].width, sides[s].width,
              sides[s].height);
    MPI_Start(&sends[turn][s]);
  }
  MPI_Waitall(others, receives[turn], MPI_STATUSES_IGNORE);
  for (int s = 0; s < others; ++s) {
    copy_rows(sides[s].arrived[turn], sides[s].width, sides[s].ghosts, shape.pitch, sides[s].width,
              sides[s].height);
  }
  MPI_Startall(others, receives[turn]);  // of the iteration after the next
  const size_t width = length_of(active_columns);
  prk_apply(1, radius, weights,
            first + (active_rows.begin - rows.begin) * shape.pitch +
                (active_columns.begin - columns.begin),
            shape.pitch, result, (struct prk_tile){width, length_of(active_rows), width});
  prk_increment(first, shape);
  MPI_Waitall(others, sends[turn], MPI_STATUSES_IGNORE);
}

static double found_stencil(double iterations) {
  double norm = nothing(iterations);
  const double side = (double)(sizes[0] - 2 * sizes[1]);
  const size_t count = length_of(active_columns) * length_of(active_rows);
  for (size_t i = 0; i < count; ++i) norm += fabs(result[i]);
  return norm / (side * side);
}
static double expected_stencil(double iterations) { return 2 * iterations; }

static void end_stencil(void) {
  for (int t = 0; t < 2; ++t) {
    for (int s = 0; s < others; ++s) {
      MPI_Cancel(&receives[t][s]);
      MPI_Wait(&receives[t][s], MPI_STATUS_IGNORE);
      MPI_Request_free(&receives[t][s]);
      MPI_Request_free(&sends[t][s]);
    }
  }
}

void stencil(void) {
  static const struct way way = {"persistent", begin_stencil, iterate_stencil, found_stencil,
                                 end_stencil};
  const double side = (double)(sizes[0] - 2 * sizes[1]), star = 4.0 * (double)sizes[1] + 1;
  measure(&way, 1, (2 * star + 1) * side * side / 1e6, expected_stencil);
}

// --- Synch_p2p

static double* numbers;
static size_t pitch;

static void begin_wave(void) {
  // The first processes have the larger parts.
  const struct span mirrored = part_of(sizes[0], procs, procs - 1 - rank);
  columns = (struct span){sizes[0] - mirrored.end, sizes[0] - mirrored.begin};
  pitch = length_of(columns) + 1;
  numbers = room_of(pitch * sizes[1], sizeof(double));
  for (size_t i = 0; i < pitch; ++i) numbers[i] = (double)(columns.begin + i) - 1;
  for (size_t j = 0; rank == 0 && j < sizes[1]; ++j) numbers[j * pitch + 1] = (double)j;
}

static void iterate_wave(void) {
  const size_t border = rank == 0 ? 1 : 0, width = pitch - 1;
  const int last = procs - 1;
  for (size_t j = 1; j < sizes[1]; ++j) {
    double* const row = numbers + j * pitch;
    if (rank > 0) {
      MPI_Recv(row, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    prk_wave(row - pitch + border, row + border, width - border);
    if (rank < last) MPI_Send(&row[width], 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
  }
  const double corner = -numbers[(sizes[1] - 1) * pitch + width];
  if (procs == 1) numbers[1] = corner;
  if (rank > 0 && rank == last) MPI_Send(&corner, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  if (rank == 0 && last > 0) {
    MPI_Recv(&numbers[1], 1, MPI_DOUBLE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static double found_wave(double iterations) {
  return rank == procs - 1 ? numbers[(sizes[1] - 1) * pitch + pitch - 1] : nothing(iterations);
}
static double expected_wave(double iterations) {
  return iterations * (double)(sizes[0] + sizes[1] - 2);
}

void synch_p2p(void) {
  static const struct way way = {"send", begin_wave, iterate_wave, found_wave, NULL};
  measure(&way, 1, 2 * (double)((sizes[0] - 1) * (sizes[1] - 1)) / 1e6, expected_wave);
}
