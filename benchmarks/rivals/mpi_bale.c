// The kernels of examples/bale by MPI, on the same input: what each sends is exchanged in rounds
// (mpi_rounds.h). Prints SECONDS,MILLIONS A SECOND,ANSWER of the fastest repetition, where the
// answer is that of examples/bale, or "wrong".
//
//   mpicc -O3 -I ../.. -o mpi_bale mpi_bale.c
//   mpirun -n 2 mpi_bale KERNEL SIZE UPDATES DEGREE [REPETITIONS]
//
// KERNEL: histogram, index_gather, transpose, topological_sort or triangles. SIZE, UPDATES and
// DEGREE are those of examples/bale: words or rows of each process, what each does in the first two
// kernels, and columns that are drawn for a row.

#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/bale/input.h"
#include "mpi_rounds.h"

static const uint64_t kSeed = 1;
static uint32_t rank, procs, size, degree;  // size: of each process
static uint64_t updates;

static void* room_for(size_t count, size_t each) {
  void* const room = calloc(count + 1, each);
  if (room == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return room;
}
static uint64_t sum_of_all(uint64_t mine) {
  uint64_t all;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
static uint32_t owner(uint32_t index) { return index % procs; }
static uint32_t local(uint32_t index) { return index / procs; }
static uint32_t global(uint32_t local_index) { return local_index * procs + rank; }

// Where the drawn words are is known before the time begins.
struct place {
  uint32_t proc, local;
};
static struct place* places;
static void draw_places(void) {
  places = room_for(updates, sizeof *places);
  for (uint64_t i = 0; i < updates; ++i) {
    const uint32_t word = draw_word(kSeed, rank, i, size * procs);
    places[i] = (struct place){owner(word), local(word)};
  }
}

// --- Histogram

static int64_t* counts;

static void make_histogram(void) {
  draw_places();
  counts = room_for(size, sizeof(int64_t));
}
static void run_histogram(struct rounds* rounds) {
  memset(counts, 0, sizeof(int64_t) * size);
  uint64_t i = 0;
  for (int more = 1; more;) {
    for (; i < updates && !parcel_is_full(rounds, (int)places[i].proc); ++i) {
      *next_item(rounds, (int)places[i].proc) = places[i].local;
    }
    more = i < updates;
    const int came = exchange_parcels_of(rounds, &more);
    empty_parcels(rounds);
    for (int k = 0; k < came; ++k) ++counts[rounds->in[k]];
  }
}
static uint64_t answer_of_histogram(void) {
  uint64_t answer = 0;
  for (uint32_t i = 0; i < size; ++i) answer += mark_of(global(i), (uint64_t)counts[i]);
  return sum_of_all(answer);
}
static uint64_t updates_of_tables(void) { return updates * procs; }

// --- Index gather

static int64_t *table, *gathered, *replies, *values;
static uint32_t* asked;  // which of `gathered` each item of a parcel is for

static void make_index_gather(void) {
  draw_places();
  table = room_for(size, sizeof(int64_t));
  gathered = room_for(updates, sizeof(int64_t));
  replies = room_for((size_t)procs * kRoom, sizeof(int64_t));
  values = room_for((size_t)procs * kRoom, sizeof(int64_t));
  asked = room_for((size_t)procs * kRoom, sizeof(uint32_t));
  for (uint32_t i = 0; i < size; ++i) table[i] = -(int64_t)global(i) - 1;
}
static void run_index_gather(struct rounds* rounds) {
  uint64_t i = 0;
  for (int more = 1; more;) {
    for (; i < updates && !parcel_is_full(rounds, (int)places[i].proc); ++i) {
      const int to = (int)places[i].proc;
      asked[to * kRoom + rounds->out_count[to]] = (uint32_t)i;
      *next_item(rounds, to) = places[i].local;
    }
    more = i < updates;
    const int came = exchange_parcels_of(rounds, &more);
    for (int k = 0; k < came; ++k) replies[k] = table[rounds->in[k]];
    MPI_Alltoallv(replies, rounds->in_count, rounds->in_at, MPI_INT64_T, values, rounds->out_count,
                  rounds->out_at, MPI_INT64_T, MPI_COMM_WORLD);
    for (int p = 0; p < (int)procs; ++p) {
      const int at = p * kRoom;
      for (int k = at; k < at + rounds->out_count[p]; ++k) gathered[asked[k]] = values[k];
    }
    empty_parcels(rounds);
  }
}
static uint64_t answer_of_index_gather(void) {
  uint64_t answer = 0;
  for (uint64_t i = 0; i < updates; ++i) {
    answer += mark_of((uint32_t)(i * procs + rank), (uint64_t)gathered[i]);
  }
  return sum_of_all(answer);
}

// --- Sparse matrices: the rows of this process

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

// --- All of them

static const struct kernel {
  const char* name;
  size_t words;  // of an item
  void (*make)(void);
  void (*run)(struct rounds* rounds);
  uint64_t (*answer)(void);
  uint64_t (*updates)(void);
} kernels[] = {
    {"histogram", 1, &make_histogram, &run_histogram, &answer_of_histogram, &updates_of_tables},
    {"index_gather", 1, &make_index_gather, &run_index_gather, &answer_of_index_gather,
     &updates_of_tables},
    {"transpose", 2, &make_transpose, &run_transpose, &answer_of_transpose, &entries_of_all},
    {"topological_sort", 2, &make_topological_sort, &run_topological_sort,
     &answer_of_topological_sort, &entries_of_all},
    {"triangles", 2, &make_triangles, &run_triangles, &answer_of_triangles, &candidates},
};

static void measure(const struct kernel* kernel, int repetitions) {
  struct rounds rounds;
  double least = 0;
  uint64_t answer = 0;
  make_rounds(&rounds, kernel->words);
  kernel->make();
  for (int i = 0; i < repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    kernel->run(&rounds);
    double seconds = MPI_Wtime() - start, most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i == 0 || most < least) least = most;
    answer = kernel->answer();
  }
  const double all = (double)kernel->updates();
  if (rank == 0) printf("%.6f,%.3f,%016" PRIx64 "\n", least, all / least / 1e6, answer);
  free_rounds(&rounds);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, (int*)&rank);
  MPI_Comm_size(MPI_COMM_WORLD, (int*)&procs);
  int found = 0;
  for (size_t i = 0; argc > 4 && i < sizeof kernels / sizeof *kernels; ++i) {
    if (strcmp(argv[1], kernels[i].name) != 0) continue;
    size = (uint32_t)atoi(argv[2]);
    updates = strtoull(argv[3], NULL, 10);
    degree = (uint32_t)atoi(argv[4]);
    measure(&kernels[i], argc > 5 ? atoi(argv[5]) : 1);
    found = 1;
  }
  if (!found && rank == 0) {
    fprintf(stderr, "usage: mpi_bale KERNEL SIZE UPDATES DEGREE [REPETITIONS]\n");
  }
  MPI_Finalize();
  return found ? 0 : 2;
}
