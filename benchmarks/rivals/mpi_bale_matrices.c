// Of mpi_bale.c: the kernels on sparse matrices.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_bale.h"

// The rows of this process.
struct matrix {
  uint32_t* begin;    // of each row, and the end of the last
  uint32_t* columns;  // of room for the entries that there are
};
static struct matrix matrix, other;
static uint32_t *arrived, room_of_arrived;

static uint32_t entries_of(const struct matrix* one) { return one->begin[size]; }

// Row i is row `row_was`(i) of a random matrix, whose column j is column columns_to(j).
static void make_matrix(enum pattern pattern, const struct permutation* rows,
                        const struct permutation* columns) {
  const struct random_matrix random = {kSeed, size * procs, degree, pattern};
  matrix.begin = room_for(size + 1, sizeof(uint32_t));
  matrix.columns = room_for((size_t)size * (degree + 1), sizeof(uint32_t));
  for (uint32_t i = 0; i < size; ++i) {
    uint32_t* const row = matrix.columns + matrix.begin[i];
    const uint32_t was = rows ? permute_back(rows, global(i)) : global(i);
    const uint32_t count = make_row(&random, was, row);
    for (uint32_t k = 0; columns != NULL && k < count; ++k) row[k] = permute(columns, row[k]);
    matrix.begin[i + 1] = matrix.begin[i] + count;
  }
}
static uint64_t entries_of_all(void) { return sum_of_all(entries_of(&matrix)); }
static uint64_t digest_of(const struct matrix* one) {
  uint64_t digest = 0;
  for (uint32_t i = 0; i < size; ++i) {
    for (uint32_t k = one->begin[i]; k < one->begin[i + 1]; ++k) {
      digest += mark_of(global(i), one->columns[k]);
    }
  }
  return sum_of_all(digest);
}

// --- Transpose

static void make_transpose(void) {
  make_matrix(kWhole, NULL, NULL);
  other.begin = room_for(size + 2, sizeof(uint32_t));
}
static void keep(const uint32_t* entries, uint32_t before, uint32_t came) {
  if (before + came > room_of_arrived) {
    room_of_arrived = 2 * (before + came);
    arrived = realloc(arrived, 2 * sizeof(uint32_t) * room_of_arrived);
    if (arrived == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memcpy(arrived + 2 * before, entries, 2 * sizeof(uint32_t) * came);
}
static void run_transpose(struct rounds* rounds) {
  uint32_t row = 0, k = 0, kept = 0;
  uint32_t* const next = other.begin + 1;  // in the end, the row begins where its last entry did
  memset(other.begin, 0, sizeof(uint32_t) * (size + 2));
  for (int more = 1; more;) {
    for (; row < size; ++row) {
      for (; k < matrix.begin[row + 1]; ++k) {
        const uint32_t column = matrix.columns[k];
        if (parcel_is_full(rounds, (int)owner(column))) goto full;
        uint32_t* const item = next_item(rounds, (int)owner(column));
        item[0] = local(column), item[1] = global(row);
      }
    }
  full:
    more = row < size;
    const uint32_t came = (uint32_t)exchange_parcels_of(rounds, &more);
    empty_parcels(rounds);
    for (uint32_t i = 0; i < came; ++i) ++next[rounds->in[2 * i] + 1];
    keep(rounds->in, kept, came);
    kept += came;
  }
  for (uint32_t i = 0; i < size; ++i) next[i + 1] += next[i];
  free(other.columns);
  other.columns = malloc(sizeof(uint32_t) * (kept + 1));
  for (uint32_t i = 0; i < kept; ++i) other.columns[next[arrived[2 * i]]++] = arrived[2 * i + 1];
}
static uint64_t answer_of_transpose(void) { return digest_of(&other); }

// --- Topological sort: `other` is the matrix transposed; as in examples/bale each row has a word
// of how many entries are left and the sum of their columns.

static struct permutation rows_were, columns_were;
static struct rounds rounds_of_columns;
static uint64_t* left;
static uint32_t *row_to, *column_to, *open_rows, *open_columns;

static uint64_t entry_in(uint32_t column) { return ((uint64_t)1 << 48) + column; }

static void make_topological_sort(void) {
  rows_were = make_permutation(size * procs, kSeed + 1);
  columns_were = make_permutation(size * procs, kSeed + 2);
  make_matrix(kUpperWithDiagonal, &rows_were, &columns_were);
  other.begin = room_for(size + 2, sizeof(uint32_t));
  make_rounds(&rounds_of_columns, 2);
  run_transpose(&rounds_of_columns);
  left = room_for(size, sizeof(uint64_t));
  row_to = room_for(size, sizeof(uint32_t));
  column_to = room_for(size, sizeof(uint32_t));
  open_rows = room_for(size, sizeof(uint32_t));
  open_columns = room_for(size, sizeof(uint32_t));
}
// The rows of a level and their columns get their places, from `to` down. Returns how many columns
// of this process do.
static uint32_t settle(struct rounds* rounds, uint32_t rows, uint32_t to) {
  uint32_t i = 0, columns = 0;
  for (int more = 1; more;) {
    for (; i < rows; ++i, --to) {
      const uint32_t column = (uint32_t)left[open_rows[i]];
      if (parcel_is_full(rounds, (int)owner(column))) break;
      uint32_t* const item = next_item(rounds, (int)owner(column));
      row_to[open_rows[i]] = to;
      item[0] = local(column), item[1] = to;
    }
    more = i < rows;
    const uint32_t came = (uint32_t)exchange_parcels_of(rounds, &more);
    empty_parcels(rounds);
    for (uint32_t k = 0; k < came; ++k) {
      open_columns[columns++] = rounds->in[2 * k];
      column_to[rounds->in[2 * k]] = rounds->in[2 * k + 1];
    }
  }
  return columns;
}
// Their entries are taken. Returns how many rows of this process have one entry after that.
static uint32_t take_entries(struct rounds* rounds, uint32_t columns) {
  uint32_t i = 0, k = columns ? other.begin[open_columns[0]] : 0, rows = 0;
  for (int more = 1; more;) {
    while (i < columns) {
      const uint32_t column = open_columns[i];
      for (; k < other.begin[column + 1]; ++k) {
        const uint32_t row = other.columns[k];
        if (parcel_is_full(rounds, (int)owner(row))) goto full;
        uint32_t* const item = next_item(rounds, (int)owner(row));
        item[0] = local(row), item[1] = global(column);
      }
      if (++i < columns) k = other.begin[open_columns[i]];
    }
  full:
    more = i < columns;
    const uint32_t came = (uint32_t)exchange_parcels_of(rounds, &more);
    empty_parcels(rounds);
    for (uint32_t n = 0; n < came; ++n) {
      const uint32_t row = rounds->in[2 * n];
      left[row] -= entry_in(rounds->in[2 * n + 1]);
      if (left[row] >> 48 == 1) open_rows[rows++] = row;
    }
  }
  return rows;
}
static void run_topological_sort(struct rounds* rounds) {
  uint32_t rows = 0, placed = 0;
  uint32_t* const of_all = room_for(procs, sizeof(uint32_t));
  for (uint32_t i = 0; i < size; ++i) {
    left[i] = 0;
    for (uint32_t k = matrix.begin[i]; k < matrix.begin[i + 1]; ++k) {
      left[i] += entry_in(matrix.columns[k]);
    }
    if (left[i] >> 48 == 1) open_rows[rows++] = i;
  }
  for (;;) {
    uint32_t level = 0, before = 0;
    MPI_Allgather(&rows, 1, MPI_UINT32_T, of_all, 1, MPI_UINT32_T, MPI_COMM_WORLD);
    for (uint32_t p = 0; p < procs; ++p) {
      if (p == rank) before = level;
      level += of_all[p];
    }
    if (level == 0) break;
    const uint32_t columns = settle(rounds, rows, size * procs - 1 - placed - before);
    rows = take_entries(rounds, columns);
    placed += level;
  }
  free(of_all);
}
// The places of all columns, by process.
static uint64_t answer_of_topological_sort(void) {
  uint32_t* const all = room_for((size_t)size * procs, sizeof(uint32_t));
  char* const taken = room_for((size_t)size * procs, 1);
  uint64_t wrong = 0;
  for (int columns = 0; columns < 2; ++columns) {
    memset(taken, 0, (size_t)size * procs);
    MPI_Allgather(columns ? column_to : row_to, (int)size, MPI_UINT32_T, all, (int)size,
                  MPI_UINT32_T, MPI_COMM_WORLD);
    for (uint32_t i = 0; i < size * procs; ++i) wrong += all[i] >= size * procs || taken[all[i]]++;
  }
  for (uint32_t i = 0; i < size; ++i) {
    for (uint32_t k = matrix.begin[i]; k < matrix.begin[i + 1]; ++k) {
      const uint32_t column = matrix.columns[k];
      wrong += all[owner(column) * size + local(column)] < row_to[i];
    }
  }
  free(all), free(taken);
  const uint64_t answer = digest_of(&matrix);
  return sum_of_all(wrong) == 0 ? answer : 0;
}

// --- Triangles: a candidate (j, w) of a row goes to the owner of row j

static uint64_t triangles;

static void make_triangles(void) { make_matrix(kStrictlyLower, NULL, NULL); }
static int has(uint32_t row, uint32_t column) {
  uint32_t from = matrix.begin[row], to = matrix.begin[row + 1];
  while (from < to) {
    const uint32_t middle = from + (to - from) / 2;
    if (matrix.columns[middle] < column) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from < matrix.begin[row + 1] && matrix.columns[from] == column;
}
static void run_triangles(struct rounds* rounds) {
  uint32_t row = 0, k = 0, w = 0;
  triangles = 0;
  for (int more = 1; more;) {
    for (; row < size; ++row) {
      for (k = k < matrix.begin[row] ? matrix.begin[row] : k; k < matrix.begin[row + 1]; ++k) {
        const uint32_t j = matrix.columns[k];
        const int to = (int)owner(j);
        for (w = w < matrix.begin[row] ? matrix.begin[row] : w; w < k; ++w) {
          if (parcel_is_full(rounds, to)) goto full;
          uint32_t* const item = next_item(rounds, to);
          item[0] = local(j), item[1] = matrix.columns[w];
        }
        w = 0;
      }
    }
  full:
    more = row < size;
    const int came = exchange_parcels_of(rounds, &more);
    empty_parcels(rounds);
    for (int i = 0; i < came; ++i) {
      triangles += (uint64_t)has(rounds->in[2 * i], rounds->in[2 * i + 1]);
    }
  }
}
static uint64_t answer_of_triangles(void) { return sum_of_all(triangles); }
static uint64_t candidates(void) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < size; ++i) {
    const uint64_t edges = matrix.begin[i + 1] - matrix.begin[i];
    all += edges * (edges - 1) / 2;
  }
  return sum_of_all(all);
}

const struct kernel matrix_kernels[kMatrixKernels] = {
    {"transpose", 2, &make_transpose, &run_transpose, &answer_of_transpose, &entries_of_all},
    {"topological_sort", 2, &make_topological_sort, &run_topological_sort,
     &answer_of_topological_sort, &entries_of_all},
    {"triangles", 2, &make_triangles, &run_triangles, &answer_of_triangles, &candidates},
};
