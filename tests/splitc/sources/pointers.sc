/* Global and spread pointers: every construct that makes, moves, converts, compares or follows one. */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include "check.h"

typedef struct cell {
  int value, row[3];
  double weight;
  struct cell *global next;      /* of any process */
  int *own;
} cell_t;
typedef cell_t *global far_cell;

struct pair { int low, high; } *global shared_pair, *own_pair;

static int *global anchor, *beside, plain = 3;

/* The owner of element i, and where it is there, by hand. */
static int owner(int i) { return i % PROCS; }
static int slot(int i) { return i / PROCS; }

static int *global nth(int *spread from, int i)
{
  return (int *global)(from + i);
}

static void allocate(int *spread *to, int n)
{
  *to = all_spread_malloc(n, sizeof(int));
}

void test_spread_arithmetic(void)
{
  int *spread A, *spread p, *mine, i, n = 5 * PROCS + 3, sum = 0;
  allocate(&A, n);
  CHECK(A != NULL && A);
  mine = (int *)(A + MYPROC);
  CHECK(mine == tolocal(A + MYPROC) && mine == (int *)A);
  for (i = MYPROC; i < n; i += PROCS) mine[slot(i)] = 100 * i + 1;
  barrier();
  for (i = 0; i < n; i++) {
    CHECK(A[i] == 100 * i + 1 && *(A + i) == A[i] && *(i + A) == A[i]);
    CHECK(toproc(A + i) == owner(i));
    CHECK(*nth(A, i) == 100 * i + 1);
    CHECK(((int *global)(A + owner(i)))[slot(i)] == 100 * i + 1);
  }
  for (p = A; p < A + n; p++) sum += *p;
  CHECK(sum == 100 * (n * (n - 1) / 2) + n);
  CHECK(p - A == n && p - n == A && &A[n] == p && p > A && p != A);
  p -= 2; p--; --p; p += 4;
  CHECK(p == A + n && &A[2] + 1 == A + 3);
  p = A;
  CHECK(*p++ == 1 && p == A + 1);
  barrier();
  all_spread_free(A);
}

void test_global_arithmetic(void)
{
  int *spread A = all_spread_malloc(PROCS, 8 * sizeof(int)), i, there = (MYPROC + 1) % PROCS;
  int *global p, *global q, *mine = tolocal(A + MYPROC);
  for (i = 0; i < 8; i++) mine[i] = 10 * MYPROC + i;
  barrier();
  p = (int *global)(A + there);
  q = p + 7;
  for (i = 0; i < 8; i++) CHECK(p[i] == 10 * there + i && *(p + i) == q[i - 7]);
  CHECK(q - p == 7 && toproc(q) == there && q > p && q - 7 == p);
  CHECK(p == toglobal(there, mine) && tolocal(p) == mine);
  CHECK(*(short *)(short *global)(int *global)mine == *(short *)mine);
  barrier();
  *p = -1; p[1] += 5; ++*q; (*q)--; p[2] <<= 2;
  barrier();
  CHECK(mine[0] == -1 && mine[1] == 10 * MYPROC + 6 && mine[7] == 10 * MYPROC + 7);
  CHECK(mine[2] == (10 * MYPROC + 2) << 2);
  barrier();
  all_spread_free(A);
}

void test_arrays_of_pointers(void)
{
  int *global *spread G = all_spread_malloc(PROCS, sizeof(int *global)), *global L[2], i;
  int *box = malloc(4 * sizeof(int)), next = (MYPROC + 1) % PROCS;
  for (i = 0; i < 4; i++) box[i] = 7 * MYPROC + i;
  G[MYPROC] = (int *global)box;
  barrier();
  CHECK(*G[next] == 7 * next && G[next][3] == 7 * next + 3 && *(G[next] + 2) == 7 * next + 2);
  L[0] = NULL; L[1] = G[next];
  CHECK(!L[0] && L[0] == 0 && L[1] != NULL && G[next] == L[1]);
  CHECK((int *)G[MYPROC] == box && tolocal(L[1] + 1) - tolocal(L[1]) == 1);
  barrier();
  *G[next] = next; G[next][1] = 2 * next;
  barrier();
  CHECK(box[0] == MYPROC && box[1] == 2 * MYPROC);
  barrier();
  free(box);
  all_spread_free(G);
}

/* A list with a cell in every process, from the last to the first. */
void test_fields(void)
{
  cell_t *global *spread heads = all_spread_malloc(PROCS, sizeof(cell_t *global)), local;
  cell_t *mine = calloc(1, sizeof(cell_t)), *global at;
  far_cell last;
  int sum = 0, k;
  mine->value = 3 * MYPROC;
  mine->next = NULL;
  heads[MYPROC] = (cell_t *global)mine;
  barrier();
  if (MYPROC > 0) mine->next = heads[MYPROC - 1];
  last = heads[PROCS - 1];
  barrier();
  for (at = last; at != NULL; at = at->next) sum += at->value;
  CHECK(sum == 3 * PROCS * (PROCS - 1) / 2);
  for (k = 0, at = heads[PROCS - 1]; at->next; at = (*at).next) k++;
  CHECK(k == PROCS - 1 && at->value == 0 && toproc(at) == 0);
  barrier();
  at = heads[(MYPROC + 1) % PROCS];
  at->weight = 0.5 * MYPROC; at->row[1] = 11; at->row[2] = at->row[1] + 1; at->value += 1;
  *(&at->row[0]) = 10;
  barrier();
  CHECK(mine->weight == 0.5 * ((MYPROC + PROCS - 1) % PROCS) && mine->value == 3 * MYPROC + 1);
  CHECK(mine->row[0] == 10 && mine->row[1] == 11 && mine->row[2] == 12);
  local = *at;
  CHECK(local.row[2] == 12 && heads[MYPROC]->row[1] == 11);
  barrier();
  local.value = -5;
  *at = local;
  barrier();
  CHECK(mine->value == -5);
  all_spread_free(heads);
  free(mine);
}

void test_structs(void)
{
  struct pair *spread P = all_spread_malloc(2 * PROCS, sizeof(struct pair)), here, *mine = tolocal(P + MYPROC);
  int next = (MYPROC + 1) % PROCS;
  struct pair *global g = (struct pair *global)(P + next);
  mine->low = MYPROC; mine->high = 10 * MYPROC;
  barrier();
  here = *g;
  CHECK(here.low == next && P[next].high == 10 * next && (P + next)->low == next && (*(P + next)).high == here.high);
  barrier();
  P[next].low += 100; ((struct pair *global)(P + next))->high = 7; g[1] = here;
  (P + next + PROCS)->low++; P[next + PROCS].high := P[next].high;
  sync();
  barrier();
  CHECK(mine[0].low == MYPROC + 100 && mine[0].high == 7 && mine[1].low == MYPROC + 1 && mine[1].high == 7);
  barrier();
  *g = P[MYPROC + PROCS]; here.low := P[MYPROC + PROCS].low;
  sync();
  barrier();
  CHECK(here.low == MYPROC + 1 && mine->low == (MYPROC + PROCS - 1) % PROCS + 1 && mine->high == 7);
  barrier();
  all_spread_free(P);
}

void test_void_and_null(void)
{
  void *spread v = all_spread_malloc(PROCS, sizeof(double)), *global g = NULL;
  double *spread D = v, *global d;
  CHECK(v != NULL && g == NULL);
  own_pair = malloc(sizeof(struct pair));
  shared_pair = (struct pair *global)own_pair;
  shared_pair->high = 8;
  CHECK(own_pair->high == 8);
  D[MYPROC] = 2.5;
  g = d = (double *global)(D + MYPROC);
  d = g;
  CHECK(*d == 2.5 && plain == 3 && !beside && anchor == NULL);
  anchor = (int *global)&own_pair->low;
  *anchor = 4;
  CHECK(own_pair->low == 4);
  v = D;
  barrier();
  all_spread_free(v);
  free(own_pair);
}

/* NULL beside a pointer that is elsewhere, in a choice. */
void test_choices(void)
{
  far_cell cells = calloc(2, sizeof(cell_t)), at = NULL, *two = &at;
  cell_t *global *global link = &cells->next;
  cells->next = cells + 1;
  at = cells ? cells->next : NULL;
  CHECK(at == cells + 1 && (two[0] ? at->next : 0) == NULL && (at ? NULL : *link) == NULL && (at ? *link : NULL) == at);
  two[0]->value = 6;
  CHECK(cells[1].value == 6 && toproc(cells->next) == MYPROC && toproc(*link) == MYPROC && toproc(at->next) == -1);
  *link = 0;
  CHECK(!cells->next);
  free((cell_t *)cells);
}

/* sizeof of what is elsewhere, beside that of the same type here; nothing is followed. */
#define BYTES(x) sizeof(x)
#define ALLOCATE(type) ((type *)malloc(sizeof(type)))
void test_sizes(int n)
{
  struct pair *global g = NULL, *global *h = NULL, *own = NULL, local, *pairs;
  int *spread A = NULL, variable[n];
  cell_t *global c = NULL, here;
  char as_many[sizeof(c->row)], *copy = malloc(3 * sizeof *g);
  CHECK(sizeof(*g) == sizeof(struct pair) && sizeof *A == sizeof(int) && sizeof(g->high) == sizeof local.high);
  CHECK(sizeof(c->row) == 3 * sizeof(int) && sizeof c->row[1] == sizeof(int) && sizeof(as_many) == sizeof(here.row));
  CHECK(sizeof(*c->next) == sizeof(cell_t) && sizeof(c->next->next->weight) == sizeof(double));
  CHECK(sizeof(**h) == sizeof(struct pair) && sizeof(*own) == sizeof local && sizeof *(double *global)A == sizeof(double));
  CHECK(sizeof(g) == sizeof(struct pair *global) && sizeof(h[0]) == sizeof(int *global) && sizeof(variable) == n * sizeof(int));
  CHECK(BYTES(*g) == sizeof(local) && BYTES(c->row) == 3 * sizeof(int) && BYTES(struct pair) == sizeof(local));
  CHECK(BYTES(variable) == n * sizeof(int) && BYTES(*own) == sizeof(local));
  switch (n) { case sizeof(*A): CHECK(n == 4); }
  pairs = ALLOCATE(struct pair);
  pairs->low = 3; pairs->high = 5;
  g = (struct pair *global)pairs;
  bulk_read(&local, g, sizeof(*g));
  CHECK(local.low == 3 && local.high == 5);
  free(pairs); free(copy);
}

/* Those outside functions have global addresses, in every process. */
static int shared_number = 40, row_of_numbers[600];
double weight_of[2] = { 1.5, 2.5 };

void test_variables(void)
{
  int right = (MYPROC + 1) % PROCS, left = (MYPROC + PROCS - 1) % PROCS, there;
  int *global p = (int *global)&shared_number;
  double *global w = toglobal(right, &weight_of[1]);
  CHECK(toproc(p) == MYPROC && *p == 40 && *w == 2.5);
  barrier();
  *toglobal(right, &row_of_numbers[599]) = MYPROC;
  p = toglobal(right, &shared_number);
  *p := 100 + MYPROC;
  there := *toglobal(right, &row_of_numbers[0]);
  sync();
  barrier();
  CHECK(shared_number == 100 + left && row_of_numbers[599] == left && there == 0);
  barrier();
  *p :- 7;
  store_sync(sizeof(int));
  CHECK(shared_number == 7);
  barrier();
}

splitc_main(int argc, char **argv)
{
  test_choices();
  test_sizes(4);
  test_spread_arithmetic();
  test_global_arithmetic();
  test_arrays_of_pointers();
  test_fields();
  test_structs();
  test_void_and_null();
  test_variables();
  barrier();
  return failures;
}
