// Of mpi_prk.c: matrices and vectors.

#include <math.h>
#include <string.h>

#include "examples/matmul3d/add_product.h"
#include "examples/prk/loops.h"
#include "mpi_parcels.h"
#include "mpi_prk.h"

static double zero(double iterations) { return 0 * iterations; }

// --- Transpose: by columns

static size_t order;
static struct span mine;
static double *a, *b, *packed, *arrived;
static int *out, *out_at, *in, *in_at;
static MPI_Request* requests;

static size_t columns_of(int proc) { return length_of(part_of(order, procs, proc)); }

static void begin_transpose(void) {
  order = sizes[0];
  mine = part_of(order, procs, rank);
  const size_t count = order * length_of(mine);
  a = room_of(count, sizeof(double)), b = room_of(count, sizeof(double));
  packed = room_of(count, sizeof(double)), arrived = room_of(count, sizeof(double));
  out = room_of(4 * (size_t)procs, sizeof(int));
  out_at = out + procs, in = out_at + procs, in_at = in + procs;
  requests = room_of(2 * (size_t)procs, sizeof(MPI_Request));
  for (int p = 0; p < procs; ++p) {
    out[p] = in[p] = p == rank ? 0 : (int)(columns_of(p) * length_of(mine));
    out_at[p] = in_at[p] = (int)(part_of(order, procs, p).begin * length_of(mine));
  }
  for (size_t j = 0; j < length_of(mine); ++j) {
    for (size_t i = 0; i < order; ++i) a[j * order + i] = (double)(order * (mine.begin + j) + i);
  }
}
static void transpose_for(int proc, int add, double* to, size_t to_pitch) {
  prk_transpose(add, a + part_of(order, procs, proc).begin, order, columns_of(proc),
                length_of(mine), to, to_pitch);
}
static void take_from(int proc) {
  prk_add_block(arrived + in_at[proc], columns_of(proc), length_of(mine),
                b + part_of(order, procs, proc).begin, order);
}
static void transpose_by_alltoallv(void) {
  for (int phase = 1; phase < procs; ++phase) {
    const int to = (rank - phase + procs) % procs;
    transpose_for(to, 0, packed + out_at[to], length_of(mine));
  }
  transpose_for(rank, 1, b + mine.begin, order);
  MPI_Alltoallv(packed, out, out_at, MPI_DOUBLE, arrived, in, in_at, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int phase = 1; phase < procs; ++phase) take_from((rank + phase) % procs);
}
static void transpose_by_requests(void) {
  for (int phase = 1; phase < procs; ++phase) {
    const int from = (rank + phase) % procs;
    MPI_Irecv(arrived + in_at[from], in[from], MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
              &requests[phase - 1]);
  }
  for (int phase = 1; phase < procs; ++phase) {
    const int to = (rank - phase + procs) % procs;
    transpose_for(to, 0, packed + out_at[to], length_of(mine));
    MPI_Isend(packed + out_at[to], out[to], MPI_DOUBLE, to, 0, MPI_COMM_WORLD,
              &requests[procs + phase - 1]);
  }
  transpose_for(rank, 1, b + mine.begin, order);
  for (int phase = 1; phase < procs; ++phase) {
    MPI_Wait(&requests[phase - 1], MPI_STATUS_IGNORE);
    take_from((rank + phase) % procs);
  }
  MPI_Waitall(procs - 1, requests + procs, MPI_STATUSES_IGNORE);
}
static double found_transpose(double times) {
  double wrong = 0;
  for (size_t j = 0; j < length_of(mine); ++j) {
    for (size_t i = 0; i < order; ++i) {
      const double first = (double)(order * i + mine.begin + j);
      wrong += fabs(b[j * order + i] - (first * times + times * (times - 1) / 2));
    }
  }
  return wrong;
}
void transpose(void) {
  static const struct way ways[] = {
      {"alltoallv", begin_transpose, transpose_by_alltoallv, found_transpose, NULL},
      {"requests", begin_transpose, transpose_by_requests, found_transpose, NULL}};
  measure(ways, 2, 2 * sizeof(double) * (double)sizes[0] * (double)sizes[0] / 1e6, zero);
}

// --- Sparse: columns numbered as in the whole vector, or as own elements and then ghosts

static size_t points, star, block;
static int *counts, *at, *column;
static double *entry, *vector, *sum;
static struct parcels parcels;

static size_t scattered(size_t x, size_t y) {
  const unsigned long bits = sizes[0], side = 1ul << bits;
  const size_t point = (x & (side - 1)) | (y & (side - 1)) << bits;
  size_t reverse = 0;
  for (unsigned long bit = 0; bit < 2 * bits; ++bit) {
    reverse |= (point >> bit & 1) << (2 * bits - 1 - bit);
  }
  return reverse;
}
static int compare(const void* one, const void* other) {
  return *(const int*)one - *(const int*)other;
}
static void begin_rows(void) {
  points = (size_t)1 << 2 * sizes[0], star = 4 * sizes[1] + 1;
  block = (points + (size_t)procs - 1) / (size_t)procs;
  counts = room_of((size_t)procs, sizeof(int)), at = room_of((size_t)procs, sizeof(int));
  for (int p = 0; p < procs; ++p) {
    const size_t begin = block * (size_t)p < points ? block * (size_t)p : points;
    at[p] = (int)begin, counts[p] = (int)(begin + block < points ? block : points - begin);
  }
  const size_t own = (size_t)counts[rank];
  column = room_of(own * star, sizeof(int)), entry = room_of(own * star, sizeof(double));
  sum = room_of(own, sizeof(double));
  for (size_t row = 0; row < own; ++row) {
    const size_t point = (size_t)at[rank] + row, side = (size_t)1 << sizes[0];
    const size_t x = point & (side - 1), y = point >> sizes[0];
    int* next = column + row * star;
    *next++ = (int)scattered(x, y);
    for (size_t k = 1; k <= sizes[1]; ++k) {
      *next++ = (int)scattered(x + k, y), *next++ = (int)scattered(x, y + k);
      *next++ = (int)scattered(x - k, y), *next++ = (int)scattered(x, y - k);
    }
    qsort(column + row * star, star, sizeof(int), compare);
    for (size_t k = row * star; k < (row + 1) * star; ++k) entry[k] = 1.0 / (column[k] + 1.0);
  }
}
static void begin_sparse(void) {
  begin_rows();
  vector = room_of(points, sizeof(double));
}
static void begin_parcels(void) {
  begin_rows();
  const size_t all = (size_t)counts[rank] * star;
  struct place* const needed = room_of(all, sizeof *needed);
  int many = 0;
  for (size_t k = 0; k < all; ++k) {
    const struct place place = {column[k] / (int)block, column[k] % (int)block};
    if (place.owner != rank) needed[many++] = place;
  }
  many = sort_places(needed, many);
  vector = room_of((size_t)(counts[rank] + many), sizeof(double));
  make_parcels(&parcels, needed, many, vector + counts[rank]);
  for (size_t k = 0; k < all; ++k) {
    const struct place place = {column[k] / (int)block, column[k] % (int)block};
    column[k] = place.owner == rank ? place.index : counts[rank] + find_place(needed, many, place);
  }
  start_receives(&parcels);
}
static void increase(double* own) {
  for (int i = 0; i < counts[rank]; ++i) own[i] += at[rank] + i + 1.0;
}
static void multiply(void) {
  for (int row = 0; row < counts[rank]; ++row) {
    const double* const entries = entry + (size_t)row * star;
    const int* const places = column + (size_t)row * star;
    double product = 0;
    for (size_t k = 0; k < star; ++k) product += entries[k] * vector[places[k]];
    sum[row] += product;
  }
}
static void sparse_by_allgatherv(void) {
  increase(vector + at[rank]);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, vector, counts, at, MPI_DOUBLE, MPI_COMM_WORLD);
  multiply();
}
static void sparse_by_requests(void) {
  increase(vector);
  start_sends(&parcels, vector);
  wait_for_receives(&parcels);
  multiply();
  start_receives(&parcels);
  wait_for_sends(&parcels);
}
static double found_sparse(double iterations) {
  double all = zero(iterations);
  for (int i = 0; i < counts[rank]; ++i) all += sum[i];
  return all;
}
static double expected_sparse(double times) {
  return 0.5 * (double)(points * star) * times * (times + 1);
}
static void end_parcels(void) { cancel_receives(&parcels); }
void sparse(void) {
  static const struct way ways[] = {
      {"allgatherv", begin_sparse, sparse_by_allgatherv, found_sparse, NULL},
      {"persistent", begin_parcels, sparse_by_requests, found_sparse, end_parcels}};
  points = (size_t)1 << 2 * sizes[0], star = 4 * sizes[1] + 1;
  measure(ways, 2, 2 * (double)(points * star) / 1e6, expected_sparse);
}

// --- DGEMM: tiles by rows

static struct tiles tiles;
static struct span rows, columns;
static MPI_Comm row_comm, column_comm;
static double *panel_a[2], *panel_b[2], *c;
static MPI_Request comes[2][2];

static void begin_dgemm(void) {
  tiles = make_tiles();
  rows = part_of(sizes[0], tiles.down, tiles.y), columns = part_of(sizes[0], tiles.across, tiles.x);
  MPI_Comm_split(MPI_COMM_WORLD, tiles.y, tiles.x, &row_comm);
  MPI_Comm_split(MPI_COMM_WORLD, tiles.x, tiles.y, &column_comm);
  const size_t width = length_of(columns), height = length_of(rows);
  a = room_of(width * height, sizeof(double)), b = room_of(width * height, sizeof(double));
  c = room_of(width * height, sizeof(double));
  for (int t = 0; t < 2; ++t) {
    panel_a[t] = room_of(height * sizes[1], sizeof(double));
    panel_b[t] = room_of(width * sizes[1], sizeof(double));
  }
  for (size_t i = 0; i < height; ++i) {
    for (size_t j = 0; j < width; ++j) {
      a[i * width + j] = b[i * width + j] = (double)(columns.begin + j);
    }
  }
}
static void end_dgemm(void) { MPI_Comm_free(&row_comm), MPI_Comm_free(&column_comm); }

struct panel {
  struct span depth;
  int column, row;
};
static struct panel panel_from(size_t begin) {
  struct panel panel = {{begin, begin}, 0, 0};
  if (begin == sizes[0]) return panel;
  while (part_of(sizes[0], tiles.across, panel.column).end <= begin) ++panel.column;
  while (part_of(sizes[0], tiles.down, panel.row).end <= begin) ++panel.row;
  const size_t right = part_of(sizes[0], tiles.across, panel.column).end;
  const size_t bottom = part_of(sizes[0], tiles.down, panel.row).end;
  panel.depth.end = begin + sizes[1];
  if (panel.depth.end > right) panel.depth.end = right;
  if (panel.depth.end > bottom) panel.depth.end = bottom;
  return panel;
}
static void pack_panel(struct panel panel, int t) {
  const size_t depth = length_of(panel.depth), width = length_of(columns);
  if (panel.column == tiles.x) {
    for (size_t i = 0; i < length_of(rows); ++i) {
      memcpy(panel_a[t] + i * depth, a + i * width + (panel.depth.begin - columns.begin),
             depth * sizeof(double));
    }
  }
  if (panel.row == tiles.y) {
    memcpy(panel_b[t], b + (panel.depth.begin - rows.begin) * width,
           depth * width * sizeof(double));
  }
}
static void multiply_panel(struct panel panel, int t) {
  const size_t depth = length_of(panel.depth), width = length_of(columns);
  matmul3d_add_product(panel_a[t], depth, panel_b[t], width, length_of(rows), depth, width, c);
}
static int count_a(struct panel panel) { return (int)(length_of(panel.depth) * length_of(rows)); }
static int count_b(struct panel panel) {
  return (int)(length_of(panel.depth) * length_of(columns));
}
static void dgemm_by_bcast(void) {
  struct panel panel;
  for (size_t begin = 0; begin < sizes[0]; begin = panel.depth.end) {
    panel = panel_from(begin);
    pack_panel(panel, 0);
    MPI_Bcast(panel_a[0], count_a(panel), MPI_DOUBLE, panel.column, row_comm);
    MPI_Bcast(panel_b[0], count_b(panel), MPI_DOUBLE, panel.row, column_comm);
    multiply_panel(panel, 0);
  }
}
static void start_panel(struct panel panel, int t) {
  pack_panel(panel, t);
  MPI_Ibcast(panel_a[t], count_a(panel), MPI_DOUBLE, panel.column, row_comm, &comes[t][0]);
  MPI_Ibcast(panel_b[t], count_b(panel), MPI_DOUBLE, panel.row, column_comm, &comes[t][1]);
}
static void dgemm_by_ibcast(void) {
  struct panel panel = panel_from(0);
  start_panel(panel, 0);
  for (int t = 0; length_of(panel.depth) > 0; t ^= 1) {
    MPI_Waitall(2, comes[t], MPI_STATUSES_IGNORE);
    const struct panel next = panel_from(panel.depth.end);
    if (length_of(next.depth) > 0) start_panel(next, t ^ 1);
    multiply_panel(panel, t);
    panel = next;
  }
}
static double found_dgemm(double iterations) {
  double all = zero(iterations);
  for (size_t i = 0; i < length_of(rows) * length_of(columns); ++i) all += c[i];
  return all;
}
static double expected_dgemm(double times) {
  const double n = (double)sizes[0];
  return 0.25 * n * n * n * (n - 1) * (n - 1) * times;
}
void dgemm(void) {
  static const struct way ways[] = {
      {"bcast", begin_dgemm, dgemm_by_bcast, found_dgemm, end_dgemm},
      {"ibcast", begin_dgemm, dgemm_by_ibcast, found_dgemm, end_dgemm}};
  const double n = (double)sizes[0];
  measure(ways, 2, 2 * n * n * n / 1e6, expected_dgemm);
}

// --- Reduce

static double* ones;

static void begin_reduce(void) {
  vector = room_of(sizes[0], sizeof(double)), ones = room_of(sizes[0], sizeof(double));
  for (size_t i = 0; i < sizes[0]; ++i) vector[i] = ones[i] = 1;
}
static void iterate_reduce(void) {
  for (size_t i = 0; i < sizes[0]; ++i) vector[i] += ones[i];
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : vector, vector, (int)sizes[0], MPI_DOUBLE, MPI_SUM, 0,
             MPI_COMM_WORLD);
}
static double found_reduce(double times) {
  const double timed = times - 1;
  const double element = timed + 2 + (timed * timed + 5 * timed + 4) * (procs - 1.0) / 2;
  double wrong = 0;
  for (size_t i = 0; rank == 0 && i < sizes[0]; ++i) wrong += fabs(vector[i] - element);
  return wrong;
}
void reduce(void) {
  static const struct way way = {"reduce", begin_reduce, iterate_reduce, found_reduce, NULL};
  measure(&way, 1, (2.0 * procs - 1) * (double)sizes[0] / 1e6, zero);
}
