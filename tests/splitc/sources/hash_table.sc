/* A hash table whose chains go through all processes, a transposition, a median, a histogram. */
#include <split-c/split-c.h>
#include <stdlib.h>
#include "check.h"

#define NIL ((entry_t *global)0)
#define HASH(k) (((k) * 2654435761u >> 7) % (unsigned)BUCKETS)
#define BUCKETS (3 * PROCS)
#define SWAP(T, a, b) { T swap_ = a; a = b; b = swap_; }
#define NEW(T) ((T *)malloc(sizeof(T)))
#define FETCH(to, from) bulk_read(&(to), &(from), sizeof(from))

typedef struct entry { unsigned key; int count; struct entry *global next; } entry_t;
typedef entry_t *global chain;

chain Table[BUCKETS]::;
int Locks[BUCKETS]::;
static int Matrix[PROCS]::[PROCS][2], Back[PROCS]::[PROCS][2];
unsigned histogram[PROCS]::[16];

static void insert(unsigned key)
{
  unsigned b = HASH(key);
  entry_t *global at, *fresh;
  while (test_and_set(&Locks[b])) ;
  for (at = Table[b]; at != NIL && at->key != key; at = at->next) ;
  if (at) at->count += 1;
  else {
    fresh = NEW(entry_t);
    fresh->key = key; fresh->count = 1; fresh->next = Table[b];
    Table[b] = (chain)fresh;
  }
  Locks[b] = 0;
}

static int count_of(unsigned key)
{
  chain at = Table[HASH(key)];
  entry_t e;
  do {
    if (at == NIL) return 0;
    FETCH(e, *at);
    if (e.key == key) return e.count;
    at = e.next;
  } while (1);
}

static void transpose(int A[PROCS]::[PROCS][2], int B[PROCS]::[PROCS][2])
{
  int i, p;
  for (i = 0; i < PROCS; i++) {
    p = (MYPROC + i) % PROCS;
    bulk_put(B[p][MYPROC], tolocal(A[MYPROC][p]), 2 * sizeof(int));
  }
  sync();
  barrier();
}

static int by_value(const void *a, const void *b) { return *(int *)a - *(int *)b; }

int *global median(int *spread S, int n)
{
  int *all = malloc(n * sizeof(*S)), i, value, *global at;
  for (i = 0; i < n; i++) all[i] := S[i];
  sync();
  qsort(all, n, sizeof(*all), by_value);
  value = all[n / 2];
  free(all);
  for (i = 0; S[i] != value; i++) continue;
  at = (int *global)&S[i];
  return at;
}

void test_select(int n)
{
  int *spread S = all_spread_malloc(n, sizeof(int)), i, j = 0, lesser = 0, *global m, *spread s;
  for (s = S + MYPROC, i = MYPROC; i < n; i += PROCS, s += PROCS) *s = (i * 37) % 101;
  barrier();
  m = median(S, n);
  for_my_1d(i, n) lesser += S[i] < *m;
  lesser = all_reduce_to_all_add(lesser);
  CHECK(lesser == n / 2 && toproc(m) < PROCS && (*m)-- > 0 | 1);
  barrier();
  i = 3, j = 4; SWAP(int, i, j)
  CHECK(i == 4 && j == 3);
  all_spread_free(S);
}

void test_histogram()
{
  unsigned state = 17 + MYPROC, *mine = tolocal(histogram[MYPROC]), total = 0;
  int k, p;
  for (k = 0; k < 200; k++) mine[draw(&state) % 16]++;
  barrier();
  for (p = 0; p < PROCS; p++) for (k = MYPROC; k < 16; k += PROCS) total += histogram[p][k];
  CHECK(all_reduce_to_all_add((int)total) == 200 * PROCS);
  on_proc(PROCS - 1) { histogram[0][3] = total ? total : ~0u; histogram[0][4] ^= histogram[0][4]; }
  barrier();
  CHECK(!histogram[0][4] && histogram[0][3] != 0);
}

splitc_main(int argc, char **argv)
{
  unsigned state = 5, key;
  int i, j, copies[40];
  for (i = 0; i < 40; i++) { key = draw(&state) % 30; copies[i] = key; insert(key); }
  barrier();
  for (i = 0; i < 30; i++) {
    int expected = 0;
    for (j = 0; j < 40; j++) if (copies[j] == i) expected += PROCS;
    CHECK(count_of(i) == expected);
  }
  for (i = 0; i < PROCS; i++) { Matrix[MYPROC][i][0] = MYPROC; Matrix[MYPROC][i][1] = i; }
  barrier();
  transpose(Matrix, Back);
  for (i = 0; i < PROCS; i++) CHECK(tolocal(Back[MYPROC])[i][0] == i && Back[MYPROC][i][1] == MYPROC && Back[i][MYPROC][1] == i);
  test_select(11);
  test_select(60);
  test_histogram();
  barrier();
  return failures;
}
