/* Many small idioms of C on what is elsewhere: macros, recursion, callbacks, enums, arrays in structs. */
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#define N 8
#define ABS(x) ((x) < 0 ? -(x) : (x))
#define max(a,b) ((a)>(b)?(a):(b))
#define FOR(i,n) for((i)=0;(i)<(n);(i)++)
#define GETV(d,s,i) d[i] := s[i]
#define LINK(p,q) (p)->next = (q)
#define VALUE(p) ((p)->v)
#define OWNER(i) ((i) % PROCS)
typedef struct cell { int v; struct cell *global next; } cell, *cellp;
typedef int row_t[N];
typedef double mat3[3][3];
typedef struct { int n; row_t r; mat3 m; } rec;
enum color { RED, GREEN = 4, BLUE };
extern int errs;
int errs = 0;
static char *names[] = { "a", "b:=", NULL };
int (*ops[2])(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
int B[N * 2]::[3], *global heads[4];
cell pool[PROCS]::[N];
rec R[PROCS]::;
enum color colors[PROCS]::;
char text[PROCS]::[16];
float F[PROCS]::;
short S[PROCS]::[2];
unsigned long long big[PROCS]::;
double (*fn)(double) = sqrt;
void walk(cell *global c, void (*visit)(cell *global, int), int d) { for (; c; c = c->next) (*visit)(c, d); }
static void bump(cell *global c, int d) { c->v += d; if (c->v > 100) c->v %= 100; }
static void swap(int *global a, int *global b) { int t = *a; *a = *b; *b = t; }
int *global element(int i) { return &B[i][1]; }
cell *global make(int v, cell *global next) { cell *global c = (cell *global)malloc(sizeof(cell)); c->v = v; c->next = next; return c; }
cell *global insert(cell *global at, int v)
{
  if (at == NULL || at->v >= v) return make(v, at);
  at->next = insert(at->next, v);
  return at;
}
int sum(int n, int a[], int *global b) { int i, s = 0; FOR(i, n) s += a[i] * b[i]; return s; }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
void test_lists()
{
  cell *global head = NULL, *global at, *p; int i, prev = -1, n = 0;
  int keys[] = { 5, 3, 9, 1, 7 };
  for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) head = insert(head, keys[i]);
  for (at = head; at; prev = at->v, at = at->next) { CHECK(at->v > prev); n++; }
  CHECK(n == 5 && prev == 9);
  walk(head, bump, 3); CHECK(VALUE(head) == 4 && VALUE(head->next) == 6);
  LINK(head, head->next->next); CHECK(head->next->v == 8);
  while (head) { at = head->next; free((void *)head); head = at; }
  pool[MYPROC][0].v = 3; pool[MYPROC][0].next = &pool[MYPROC][1]; pool[MYPROC][1].next = NULL; pool[MYPROC][1].v = 4;
  barrier();
  at = &pool[OWNER(MYPROC + 1)][0];
  CHECK(at->v == 3 && at->next->v == 4 && toproc(at->next) == OWNER(MYPROC + 1) && (at + 1)->v == 4 && at[1].v == 4);
  p = tolocal(pool[MYPROC]); p[2].v = 9; (p + 3)->v = p[2].v--; 
  CHECK(pool[MYPROC][2].v == 8 && pool[MYPROC][3].v == 9 && (*(pool[MYPROC] + 2)).v == 8);
  barrier();
}
void test_types()
{
  rec *global r = &R[MYPROC], here; int i, j, k, a[3] = {1, 2, 3}; mat3 m; row_t row; int next = OWNER(MYPROC + 1);
  r->n = N; FOR(i, N) r->r[i] = i * i; FOR(i, 3) FOR(j, 3) r->m[i][j] = i - j;
  colors[MYPROC] = MYPROC ? GREEN : BLUE; F[MYPROC] = 0.5; S[MYPROC][1] = -3; big[MYPROC] = 1ull << 40; strcpy(tolocal(text[MYPROC]), "hello");
  barrier();
  bulk_read(row, R[next].r, sizeof(row)); bulk_read(m, R[next].m, sizeof m); here = R[next];
  CHECK(row[3] == 9 && m[2][1] == 1 && here.r[4] == 16 && here.m[0][2] == -2 && R[next].m[0][2] == -2 && R[next].r[here.n - 1] == 49);
  CHECK(colors[next] == (next ? GREEN : BLUE) && F[next] * 2 == 1 && S[next][1] + 3 == 0 && big[next] >> 40 == 1);
  k = colors[next]; k |= S[next][1] & 1; CHECK(k == 5 || k == 4); CHECK(text[next][1] == 'e' && (char)*text[next] == 'h' && text[next][4] - 'a' == 14);
  CHECK(max(F[next], 0.25) == 0.5 && ABS(S[next][1]) == 3 && sizeof(row_t) == N * 4 && sizeof(R[0].m) == 72 && sizeof R[0].m[1] == 24);
  switch (colors[next]) { case GREEN: k = 1; break; case BLUE: k = 2; break; default: k = 3; }
  CHECK(k == (next ? 1 : 2));
  barrier();
  if (MYPROC == PROCS - 1) swap(&B[0][0], &B[1][2]), *element(3) = 5; 
  ops[0] = add; ops[1] = sub; k = (*ops[1])(7, 2) + ops[0](1, 1); CHECK(k == 7 && fn(4.0) == 2.0);
  i = 2; B[OWNER(i)][i] += i + 1, i++; CHECK(i == 3);
  for (i = 0, j = 10; i < j; i++, j--) ; CHECK(i == 5 && names[1][1] == ':');
  barrier(); CHECK(B[3][1] == 5); CHECK(sum(3, a, B[3]) == 10 && sum(3, a, (int *global)(B + 3)) == 10); barrier();
  heads[0] = B[1]; heads[1] = heads[0] + 1; *heads[1]++ = 8; CHECK(heads[1] - heads[0] == 2); 
  FOR(i, 3) GETV(a, B[1], i); sync(); CHECK(a[1] == 8); *(int *)(B + OWNER(MYPROC)) = 0; 
  { int *global *q = heads; int **global w; (*q)[2] = 4; q++; CHECK(*q == heads[1]); CHECK(*(*q) == 4 && **q == 4); }
  { register int x = 0, *lp = &x; *lp := B[1][1]; sync(); CHECK(x == 8); *lp = *heads[0] + *lp; a[x > 3 ? 0 : 1] := *heads[0]; sync(); }
  { volatile int *v = (volatile int *)(B + MYPROC); const char *c = "x"; unsigned char uc = text[next][0]; CHECK(uc == 'h' && *c == 'x'); }
  barrier();
}
splitc_main(int argc, char **argv)
{
  int opt; double t0;
  extern char *optarg;
  while ((opt = getopt(argc, argv, "n:v")) != -1) switch (opt) { case 'n': errs = atoi(optarg); break; default: exit(1); }
  t0 = get_seconds(); test_lists(); test_types();
  if (get_seconds() - t0 < 0) { printf("clock\n"); exit(1); }
  on_one printf("%d\n", fib(10)); 
  return failures;
}
