/* Radix sort: the keys in blocks, a pass for each digit, and three ways to move the keys in a pass. */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include "check.h"

#define assert_spread_malloc(ptr) if (ptr == NULL) { fprintf(stderr, "ERROR: no memory\n"); exit(1); }

#define BITS 8
#define DIGITS (1 << BITS)
#define digit(key, pass) (((key) >> (BITS * (pass))) & (DIGITS - 1))

enum routing { BY_STORES, BY_PUTS, BY_BULK_GETS };

/* Counts[p][d]: how many keys of process p have digit d. Returns in rank[d] where the first of mine goes. */
static void all_rank(int *spread Counts, int *mine, int *rank)
{
  int *all = (int *)malloc(PROCS * DIGITS * sizeof(int)), d, i, p, sum = 0;
  for (d = 0; d < DIGITS; d++) ((int *)(Counts + MYPROC))[d] = mine[d];
  barrier();
  for (i = 0; i < PROCS; i++) {
    p = (MYPROC + i) % PROCS;
    bulk_get(&all[p * DIGITS], Counts + p, DIGITS * sizeof(int));
  }
  sync();
  for (d = 0; d < DIGITS; d++) {
    for (p = 0; p < PROCS; p++) {
      if (p == MYPROC) rank[d] = sum;
      sum += all[p * DIGITS + d];
    }
  }
  barrier();
  free(all);
}

/* Where each process finds its keys: sent there as (position, key), and placed by the receiver. */
static void route_by_bulk_gets(int m, int *place, unsigned *keys, unsigned *to)
{
  int Sizes[PROCS]::[PROCS], *spread Boxes, *box, *next, *in, i, p, n;
  Boxes = all_spread_malloc(PROCS, 2 * m * PROCS * sizeof(int));
  assert_spread_malloc(Boxes);
  box = (int *)(Boxes + MYPROC);
  next = calloc(PROCS, sizeof(int));
  in = malloc(2 * m * sizeof(int));
  for (i = 0; i < m; i++) {
    p = place[i] / m;
    box[2 * (m * p + next[p])] = place[i] % m;
    box[2 * (m * p + next[p]++) + 1] = keys[i];
  }
  for (p = 0; p < PROCS; p++) Sizes[MYPROC][p] = next[p];
  barrier();
  for (p = 0; p < PROCS; p++) {
    n = Sizes[p][MYPROC];
    bulk_get(in, ((int *global)(Boxes + p)) + 2 * m * MYPROC, 2 * n * sizeof(int));
    sync();
    for (i = 0; i < n; i++) to[in[2 * i]] = in[2 * i + 1];
  }
  barrier();
  free(in); free(next);
  all_spread_free(Boxes);
}

void all_radix_sort(int m, unsigned *spread A, unsigned *spread B, enum routing how)
{
  int *spread Counts = all_spread_malloc(PROCS, DIGITS * sizeof(int));
  int counts[DIGITS], rank[DIGITS], *place = malloc(m * sizeof(int)), i, pass;
  unsigned *spread swap;
  assert_spread_malloc(Counts);
  for (pass = 0; pass < (int)(32 / BITS); pass++) {
    unsigned *keys = (unsigned *)(A + MYPROC);
    for (i = 0; i < DIGITS; i++) counts[i] = 0;
    for (i = 0; i < m; i++) counts[digit(keys[i], pass)]++;
    all_rank(Counts, counts, rank);
    for (i = 0; i < m; i++) place[i] = rank[digit(keys[i], pass)]++;
    if (how == BY_BULK_GETS) {
      route_by_bulk_gets(m, place, keys, tolocal(B + MYPROC));
    } else {
      for (i = 0; i < m; i++) {
        unsigned *global to = (unsigned *global)(B + place[i] / m) + place[i] % m;
        if (how == BY_STORES) *to :- keys[i]; else *to := keys[i];
      }
      if (how == BY_STORES) { store_sync(m * sizeof(unsigned)); reset_store_sync(); }
      sync();
    }
    barrier();
    swap = A; A = B; B = swap;
  }
  all_spread_free(Counts);
  free(place);
}

static int by_value(const void *a, const void *b)
{
  const unsigned *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static void test_sort(unsigned seed, int m, enum routing how)
{
  unsigned *spread A = all_spread_malloc(PROCS, m * sizeof(unsigned));
  unsigned *spread B = all_spread_malloc(PROCS, m * sizeof(unsigned));
  unsigned *oracle = malloc(m * PROCS * sizeof(unsigned)), state = seed;
  int i, p;
  assert_spread_malloc(A); assert_spread_malloc(B);
  for (i = 0; i < m * PROCS; i++) oracle[i] = draw(&state) * (i % 5 ? 257u : 1u);
  for (i = 0; i < m; i++) ((unsigned *)(A + MYPROC))[i] = oracle[m * MYPROC + i];
  barrier();
  all_radix_sort(m, A, B, how);
  qsort(oracle, m * PROCS, sizeof(unsigned), by_value);
  for (i = 0; i < m; i++) CHECK(((unsigned *)(A + MYPROC))[i] == oracle[m * MYPROC + i]);
  for (p = 0; p < PROCS; p++) CHECK(A[p] == oracle[m * p]);
  barrier();
  free(oracle);
  all_spread_free(A); all_spread_free(B);
}

splitc_main(int argc, char **argv)
{
  unsigned seed = seed_of(argc, argv);
  test_sort(seed, 128, BY_STORES);
  test_sort(seed + 1, 100, BY_PUTS);
  test_sort(seed + 2, 333, BY_BULK_GETS);
  return failures;
}
