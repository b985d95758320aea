/* Split-phase and one-way operations, ranges, and what waits for them. */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include "check.h"

#define N 40
#define GET(to, from) do { to := from; } while (0)
#define STORE(to, value) \
  (to) :- value

struct site { int color, label; };

void test_get_and_put(void)
{
  int *spread A = all_spread_malloc(PROCS, N * sizeof(int)), *mine = tolocal(A + MYPROC), i, p;
  int got[N], choice = 1, one, two, next = (MYPROC + 1) % PROCS;
  double wider;
  struct site border[N];
  for (i = 0; i < N; i++) mine[i] = 1000 * MYPROC + i;
  barrier();
  for (p = 0; p < PROCS; p++) {
    int *global from = (int *global)(A + p);
    for (i = 0; i < N; i++) { got[i] := from[i]; border[i].color := *(from + i); }
    GET(one, A[p]); wider := from[3];
    sync();
    for (i = 0; i < N; i++) CHECK(got[i] == 1000 * p + i && border[i].color == got[i]);
    CHECK(one == 1000 * p && wider == 1000 * p + 3);
  }
  choice ? (one := A[next]) : (two := A[next]);
  switch (choice) {
    case 1: two := A[MYPROC]; break;
    default: two := A[next];
  }
  again: if (choice) one := A[next]; else one := A[MYPROC];
  if (choice++ < 2) goto again;
  while (!is_sync()) ;
  CHECK(one == 1000 * next && two == 1000 * MYPROC);
  one := two; one := one + 1;
  CHECK(one == 1000 * MYPROC + 1);
  barrier();
  for (i = 0; i < N; i++) ((int *global)(A + next))[i] := i < 20 ? -i :-i - 1;
  A[next] := A[MYPROC] - A[MYPROC];
  sync();
  barrier();
  for (i = 1; i < N; i++) CHECK(mine[i] == (i < 20 ? -i : -i - 1));
  barrier();
  all_spread_free(A);
}

void test_stores(void)
{
  int *spread A = all_spread_malloc(PROCS * PROCS, sizeof(int)), *mine = (int *)(A + MYPROC), p, round;
  for (round = 1; round <= 3; round++) {
    for (p = 0; p < PROCS; p++) ((int *global)(A + p))[MYPROC] :- round * (100 * MYPROC + p);
    store_sync(PROCS * sizeof(int));
    reset_store_sync();
    for (p = 0; p < PROCS; p++) CHECK(mine[p] == round * (100 * p + MYPROC));
    barrier();
  }
  for (p = 0; p < PROCS; p++) STORE(*((int *global)(A + p) + MYPROC), MYPROC - p);
  all_store_sync();
  for (p = 0; p < PROCS; p++) CHECK(mine[p] == p - MYPROC);
  mine[0] :- 77;
  all_store_sync();
  CHECK(mine[0] == 77);
  all_spread_free(A);
}

/* Every process moves a range to the next one by each of the calls; the oracle is what it is full of. */
void test_ranges(void)
{
  int *spread A = all_spread_malloc(PROCS, N * sizeof(int)), *mine = tolocal(A + MYPROC);
  int there = (MYPROC + 1) % PROCS, from = (MYPROC + PROCS - 1) % PROCS, i, way, out[N], in[N];
  for (way = 0; way < 4; way++) {
    for (i = 0; i < N; i++) out[i] = 10000 * way + 100 * MYPROC + i;
    switch (way) {
      case 0: bulk_write(A + there, out, N * sizeof(int)); break;
      case 1: bulk_put((int *global)(A + there), out, N * sizeof(int)); sync(); break;
      case 2: bulk_store(A + there, out, N * sizeof(int)); break;
      case 3: bulk_store_nocopy(&A[there], out, N * sizeof(int)); break;
    }
    all_store_sync();
    for (i = 0; i < N; i++) CHECK(mine[i] == 10000 * way + 100 * from + i);
    bulk_read(in, A + there, N * sizeof(int));
    for (i = 0; i < N; i++) CHECK(in[i] == out[i]);
    bulk_get(in, (int *global)(A + there) + 5, 10 * sizeof(int));
    sync();
    for (i = 0; i < 10; i++) CHECK(in[i] == out[i + 5]);
    barrier();
  }
  all_spread_free(A);
}

/* A counter before its data, as programs framed what they sent. */
void test_framing(void)
{
  int *spread slots = all_spread_malloc(PROCS, PROCS * N * sizeof(int)), *mine = tolocal(slots + MYPROC);
  int bin[N], p, k;
  for (p = 0; p < PROCS; p++) {
    int *global dest = (int *global)(slots + p) + MYPROC * N, count = (MYPROC * 7 + p) % (N - 1);
    for (k = 0; k < count; k++) bin[k] = MYPROC + p + k;
    *dest :- count;
    bulk_store(dest + 1, bin, count * sizeof(int));
  }
  all_store_sync();
  for (p = 0; p < PROCS; p++) {
    CHECK(mine[p * N] == (p * 7 + MYPROC) % (N - 1));
    for (k = 0; k < mine[p * N]; k++) CHECK(mine[p * N + 1 + k] == p + MYPROC + k);
  }
  barrier();
  all_spread_free(slots);
}

static int raise_to(int *at, int floor_, double factor)
{
  int before = *at;
  if (*at < floor_) *at = floor_;
  return (int)(before * factor);
}
static void add_to(int *at, int n) { *at += n; }

void test_atomics(void)
{
  int *spread A = all_spread_malloc(PROCS, 4 * sizeof(int)), *mine = tolocal(A + MYPROC), i, tickets = 0;
  int *global word = (int *global)A, before;
  barrier();
  for (i = 0; i < 10; i++) tickets += fetch_and_add(word, 1);
  CHECK(all_reduce_to_all_add(tickets) == 10 * PROCS * (10 * PROCS - 1) / 2);
  before = exchange(&A[MYPROC], 5);
  CHECK(mine[0] == 5 && (before == 0 || MYPROC == 0));
  CHECK(cmp_and_swap(&A[MYPROC], 5, 6) == 5 && cmp_and_swap(&A[MYPROC], 5, 7) == 6 && *mine == 6);
  CHECK(test_and_set(word + 1) == 0 || PROCS > 1);
  barrier();
  CHECK(word[1] == 1);
  atomic(add_to, word + 2, MYPROC + 1);
  CHECK(atomic(raise_to, word + 3, 9, 1.0) <= 9);
  barrier();
  CHECK(word[2] == PROCS * (PROCS + 1) / 2 && word[3] == 9);
  barrier();
  all_spread_free(A);
}

/* A token goes round, and whoever waits for it only reads its own memory. */
void test_spinning(void)
{
  int *spread token = all_spread_malloc(PROCS, sizeof(int)), round;
  for (round = 1; round <= 3; round++) {
    if (MYPROC > 0 || round > 1) while (token[MYPROC] < (MYPROC > 0 ? round : round - 1)) splitc_poll();
    token[(MYPROC + 1) % PROCS] = round;
  }
  barrier();
  CHECK(token[MYPROC] == 3);
  barrier();
  all_spread_free(token);
}

int splitc_main(void)
{
  test_get_and_put();
  test_stores();
  test_ranges();
  test_framing();
  test_atomics();
  test_spinning();
  barrier();
  return failures;
}
