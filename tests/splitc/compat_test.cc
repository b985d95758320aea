// A program in the style of the original Split-C, which checks itself: its exit code is the number
// of things that were wrong.
#include "splitc/compat.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      printf("process %d, line %d: %s\n", MYPROC, __LINE__, #condition); \
      failures++;                                                        \
    }                                                                    \
  } while (0)

static int failures = 0;

static void test_names(void) {
  int ones = 0, lasts = 0;
  CHECK(MYPROC >= 0 && MYPROC < PROCS);
  CHECK(PROCSLOG < 0 ? (PROCS & (PROCS - 1)) != 0 : 1 << PROCSLOG == PROCS);
  on_one { ones = 1; }
  on_proc(PROCS - 1) lasts = 1;
  CHECK(all_reduce_to_all_add(ones) == 1);
  CHECK(all_reduce_to_all_add(lasts) == 1);
  CHECK(ones == (MYPROC == 0));
}

/* Everybody gets the blocks of everybody, staggered. */
static void test_transpose(void) {
  enum { S = 7 };
  int i, k, p;
  spread_ptr<int> B(all_spread_malloc(PROCS, PROCS * S * sizeof(int)));
  int* mine = tolocal(B + MYPROC);
  int* loc = (int*)malloc(PROCS * S * sizeof(int));
  for (i = 0; i < PROCS * S; i++) mine[i] = 1000 * MYPROC + i;
  barrier();
  for (i = 0; i < PROCS; i++) {
    p = (MYPROC + i) % PROCS;
    bulk_get(&loc[S * p], global_ptr<int>(B + p) + S * MYPROC, S * sizeof(int));
  }
  sync();
  for (p = 0; p < PROCS; p++) {
    for (k = 0; k < S; k++) CHECK(loc[S * p + k] == 1000 * p + S * MYPROC + k);
  }
  barrier();
  free(loc);
  all_spread_free(B);
}

/* A broadcast by doubling with counted stores. */
static void test_doubling(void) {
  int step;
  spread_ptr<int> A(all_spread_malloc(PROCS, sizeof(int)));
  int* mine = tolocal(A + MYPROC);
  on_one { *mine = 4711; }
  barrier();
  for (step = 1; step < PROCS; step *= 2) {
    if (MYPROC < step) {
      if (MYPROC + step < PROCS) store(A[MYPROC + step], *mine);
    } else if (MYPROC < 2 * step) {
      store_sync(sizeof(int));
      reset_store_sync();
    }
  }
  CHECK(*mine == 4711);
  barrier();
  all_spread_free(A);
}

static void test_loops(void) {
  int i, j;
  enum { N = 13, M = 9 };
  spread_array<int> A(N);
  spread_array_2d<int> B(N, M);
  for_my_1d(i, N) A[i] = i;
  for_my_2d(i, j, N, M) B(i, j) = 100 * i + j;
  barrier();
  for (i = 0; i < N; i++) CHECK(A[i] == i);
  for (i = 0; i < N; i++) {
    for (j = 0; j < M; j++) CHECK(B(i, j) == 100 * i + j);
  }
  for_my_2d(i, j, 0, M) CHECK(false);
  for_my_2d(i, j, N, 0) CHECK(false);
  barrier();
}

/* The last steps of loops whose bounds are the largest there are. */
static void test_largest_bounds(void) {
  int i = INT_MAX - 1, j = INT_MAX - 1;
  compat::next_of_my_1d(i, INT_MAX);
  CHECK(i == INT_MAX);
  i = 0;
  compat::next_of_my_2d(i, j, INT_MAX);
  CHECK(i == 1 && j == PROCS - 1);
}

static void test_collectives(void) {
  int i;
  double d = MYPROC + 0.5;
  int* v = (int*)calloc(PROCS, sizeof(int));
  CHECK(all_bcast_i(MYPROC + 3) == 3);
  CHECK(all_bcast_d(d) == 0.5);
  CHECK(all_reduce_to_all_dadd(d) == PROCS * PROCS / 2.0);
  CHECK(all_reduce_to_all_dmin(d) == 0.5);
  CHECK(all_reduce_to_all_dmax(d) == PROCS - 0.5);
  CHECK(all_reduce_to_one_dmax(d) == (MYPROC == 0 ? PROCS - 0.5 : d));
  CHECK(all_reduce_to_one_dadd(d) == (MYPROC == 0 ? PROCS * PROCS / 2.0 : d));
  CHECK(all_reduce_to_one_dmin(d) == (MYPROC == 0 ? 0.5 : d));
  v[0] = 10 * MYPROC;
  all_concat(v);
  for (i = 0; i < PROCS; i++) CHECK(v[i] == 10 * i);
  v[0] = 20 * MYPROC;
  all_gather(v);
  on_one {
    for (i = 0; i < PROCS; i++) CHECK(v[i] == 20 * i);
  }
  free(v);
}

int splitc_main(int argc, char** argv) {
  double before = get_seconds();
  CHECK(argc >= 1 && argv[argc] == NULL);
  test_names();
  test_transpose();
  test_doubling();
  test_loops();
  test_largest_bounds();
  test_collectives();
  barrier();
  CHECK(get_seconds() >= before);
  return failures;
}
