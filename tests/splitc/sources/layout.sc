/* Spread arrays of every shape, as variables, parameters and outside functions, and loops over them. */
#include <split-c/control.h>
#include "check.h"
#define ROWS 6
#define COLUMNS 5

struct point { int x, y; };
typedef double real;

int cycle[3 * 8 + 1]::, blocks[16]::[7], *local_pointers[PROCS]::;
static real tiles[2][PROCS]::[ROWS][COLUMNS];
extern int defined_below[PROCS]::[4];
struct point points[PROCS]::[3];

int defined_below[PROCS]::[4];

static int value(int i, int k) { return 100 * i + k + 1; }

void test_cyclic(void)
{
  int i, n = 0;
  for_my_1d(i, 25) { cycle[i] = value(i, 0); n++; }
  CHECK(n == (25 - MYPROC + PROCS - 1) / PROCS);
  barrier();
  for (i = 0; i < 25; i++) {
    CHECK(cycle[i] == value(i, 0) && toproc(&cycle[i]) == i % PROCS);
    CHECK(*(cycle + i) == value(i, 0) && ((int *global)(cycle + i % PROCS))[i / PROCS] == value(i, 0));
  }
  barrier();
  on_one { cycle[7] += 3; cycle[24] :- cycle[24] + 1; }
  all_store_sync();
  CHECK(cycle[7] == value(7, 0) + 3 && cycle[24] == value(24, 0) + 1);
}

void test_blocks(void)
{
  int i, k, copy[7];
  for (i = MYPROC; i < 16; i += PROCS) {
    int *mine = tolocal(blocks[i]);
    CHECK(mine == (int *)(blocks + i) && mine == (int *)blocks + 7 * (i / PROCS));
    for (k = 0; k < 7; k++) mine[k] = value(i, k);
  }
  barrier();
  for (i = 0; i < 16; i++) {
    CHECK(toproc(blocks[i]) == i % PROCS && *blocks[i] == value(i, 0));
    for (k = 0; k < 7; k++) CHECK(blocks[i][k] == value(i, k) && *(blocks[i] + k) == blocks[i][k]);
    bulk_get(copy, blocks[i], 7 * sizeof(int));
    sync();
    for (k = 0; k < 7; k++) CHECK(copy[k] == value(i, k));
    bulk_read(copy, &blocks[i][4], 3 * sizeof(int));
    CHECK(copy[2] == value(i, 6) && ((int *global)(blocks + i))[5] == value(i, 5));
  }
  local_pointers[MYPROC] = copy;
  CHECK(local_pointers[MYPROC][2] == copy[2]);
  barrier();
}

void fill(real X[2][PROCS]::[ROWS][COLUMNS], int rows, int columns)
{
  int i, j, a, b;
  for_my_2d(i, j, 2, PROCS) {
    real (*tile)[COLUMNS] = tolocal(X[i][j]);
    for (a = 0; a < rows; a++) {
      for (b = 0; b < columns; b++) tile[a][b] = value(10 * i + j, 10 * a + b);
    }
  }
}

void test_tiles(void)
{
  int i, j, a, b, n = 0;
  real edge[COLUMNS], corner;
  fill(tiles, ROWS, COLUMNS);
  barrier();
  for (i = 0; i < 2; i++) {
    for (j = 0; j < PROCS; j++) {
      CHECK(toproc(tiles[i][j]) == (i * PROCS + j) % PROCS);
      for (a = 0; a < ROWS; a++) {
        for (b = 0; b < COLUMNS; b++) CHECK(tiles[i][j][a][b] == value(10 * i + j, 10 * a + b));
      }
      for (b = 0; b < COLUMNS; b++) edge[b] := tiles[i][j][ROWS - 1][b];
      corner := tiles[i][j][0][0];
      sync();
      CHECK(corner == value(10 * i + j, 0) && edge[COLUMNS - 1] == value(10 * i + j, 54));
      bulk_get(edge, tiles[i][j][2], sizeof edge); sync();
      CHECK(edge[3] == value(10 * i + j, 23));
      bulk_get(edge, &tiles[i][j][1][1], 2 * sizeof(real)); sync();
      CHECK(edge[1] == value(10 * i + j, 12));
    }
  }
  CHECK(tolocal(tiles[0][MYPROC])[1][2] == tiles[0][MYPROC][1][2]);
  CHECK(((real *)tiles[1][MYPROC])[COLUMNS] == value(10 + MYPROC, 10));
  CHECK(&tolocal(tiles[1][MYPROC])[2][1] == tolocal(tiles[1][MYPROC][2]) + 1);
  for_my_2d(i, j, 2, PROCS) n++;
  CHECK(n == 2);
  barrier();
  tiles[1][MYPROC][1][1] = -1; tiles[0][MYPROC][2][2] :- 4.5; *tiles[0][MYPROC][3] := 7;
  sync(); all_store_sync();
  CHECK(tiles[1][(MYPROC + 1) % PROCS][1][1] == -1 && tiles[0][0][2][2] == 4.5 && tiles[0][PROCS - 1][3][0] == 7);
  barrier();
}

/* The shape is the parameter's, whatever the argument is. */
int sum_of(int A[PROCS]::[t], int p, int t)
{
  int k, sum = 0;
  for (k = 0; k < t; k++) sum += A[p][k];
  return sum;
}
int first_of(int A[]::, int i) { return A[i] + *A - A[0]; }

void test_automatic(int h)
{
  int C[PROCS]::[h * 3 + PROCS * (PROCS + 1)], n[PROCS]::, *spread D, p, k;
  static int kept[PROCS]::[2];
  D = all_spread_malloc(PROCS, h * sizeof(int));
  for (k = 0; k < h; k++) { C[MYPROC][k] = value(MYPROC, k); ((int *)(D + MYPROC))[k] = -value(MYPROC, k); }
  n[MYPROC] = MYPROC; kept[MYPROC][1]++; defined_below[MYPROC][3] = h;
  points[MYPROC][2].y = h + MYPROC;
  barrier();
  for (p = 0; p < PROCS; p++) {
    int expected = 0;
    for (k = 0; k < h; k++) expected += value(p, k);
    CHECK(sum_of(C, p, h) == expected && sum_of(D, p, h) == -expected);
    CHECK(n[p] == p && first_of(n, p) == p && defined_below[p][3] == h && kept[p][1] == h - 3);
    CHECK(points[p][2].y == h + p && points[p][2].x == 0);
  }
  barrier();
  all_spread_free(D);
}

/* Pointers to rows whose length only the run knows, of one process and spread. */
static int row_sum(int q, int r, int (*tile)[r], int plain[q][r], int weights[q])
{
  int i, j, sum = 0;
  for (i = 0; i < q; i++)
    for (j = 0; j < r; j++) sum += weights[i] * tile[i][j] - plain[i][j];
  return sum;
}
static int first_in(int w, int q, int r, int X[1][w]::[q][r], int j) { return X[0][j][0][0]; }

void test_pointers_to_rows(int q, int r)
{
  register int i, j, (*mine)[r], *same, sum = 0;
  int (*spread X)[q][r], weights[q], copy[q][r];
  int	(*also)[r] = NULL,
	(*constant)[2];
  int pairs[3][2];
  X = all_spread_malloc(PROCS, q * r * sizeof(int));
  CHECK(X != NULL);
  mine = tolocal(X[MYPROC]);
  same = tolocal(X[MYPROC][0]);
  also = mine;
  constant = pairs;
  for (i = 0; i < q; i++)
    for (j = 0; j < r; j++) {
      mine[i][j] = value(MYPROC, 10 * i + j); weights[i] = i + 1; copy[i][j] = j;
      CHECK(same[i * r + j] == mine[i][j] && also[i][j] == mine[i][j] && X[MYPROC][i][j] == mine[i][j]);
      sum += (i + 1) * mine[i][j] - j;
    }
  (*constant)[1] = 9; constant[2][0] = 8;
  CHECK(pairs[0][1] == 9 && pairs[2][0] == 8 && (*mine)[r - 1] == value(MYPROC, r - 1));
  CHECK(row_sum(q, r, mine, copy, weights) == sum && row_sum(q, r, also, (int (*)[r])copy, weights) == sum);
  barrier();
  CHECK(first_in(PROCS, q, r, X, PROCS - 1) == value(PROCS - 1, 0) && *tolocal(X[MYPROC][1]) == mine[1][0]);
  barrier();
  all_spread_free(X);
}

/* Arithmetic of pointers to rows counts rows. */
void test_row_arithmetic(int n)
{
  int all[5 * n], (*first)[n] = (int (*)[n])all, (*last)[n], (*p)[n], i, visited = 0;
  for (i = 0; i < 5 * n; i++) all[i] = i;
  last = 4 + first;
  CHECK(**last == 4 * n && last - first == 4 && first - last == -4 && last > first && first <= last - 4);
  CHECK(*(last - 1) == all + 3 * n && (last - 2)[1][0] == 3 * n && last[-1][1] == 3 * n + 1);
  for (p = first; p < first + 5; p++) visited += (*p)[0] == (p - first) * n;
  CHECK(visited == 5 && p-- - last == 1 && *p-- == all + 4 * n && **--p == 2 * n && **++p == 3 * n);
  p -= 2; CHECK(p[0][0] == n && p != first && p == first + 1 && p);
  p += visited - 2; CHECK((*p++)[1] == 4 * n + 1 && p - first == visited);
}

#define COUNT(A) (sizeof(A) / sizeof((A)[0]))
#define CYCLE_COUNT (sizeof cycle / sizeof *cycle)
void test_sizes(int n, int A[PROCS]::[n], int (*tile)[n], int plain[n][n + 1])
{
  double X[2][3]::[n][5];
  int here[3][4];
  CHECK(sizeof(blocks) == 16 * 7 * sizeof(int) && sizeof(blocks[3]) == 7 * sizeof(int) && sizeof blocks[3][1] == sizeof(int));
  CHECK(CYCLE_COUNT == 25 && sizeof(tiles[0]) == PROCS * sizeof tiles[0][0] && sizeof(tiles[1][0][2]) == COLUMNS * sizeof(real));
  CHECK(sizeof(A) < sizeof(blocks) && sizeof(*A) == n * sizeof(int) && sizeof(points[0][1]) == sizeof(struct point));
  CHECK(sizeof(X) == 6 * n * 5 * sizeof(double) && sizeof *X == 3 * n * 5 * sizeof(double) && sizeof(X[1][2][n - 1]) == 5 * sizeof(double));
  CHECK(sizeof(*tile) == n * sizeof(int) && sizeof tile[1] == sizeof(*tile) && sizeof(tile[1][0]) == sizeof(int));
  CHECK(sizeof(plain[0]) == (n + 1) * sizeof(int) && sizeof(**plain) == sizeof(int) && COUNT(here) == 3);
  barrier();
}

splitc_main()
{
  test_sizes(3, defined_below, NULL, NULL);
  test_sizes(6, defined_below, NULL, NULL);
  test_row_arithmetic(3);
  test_row_arithmetic(7);
  test_cyclic();
  test_blocks();
  test_tiles();
  test_automatic(4);
  test_automatic(5);
  test_pointers_to_rows(4, 3);
  test_pointers_to_rows(2, 7);
  barrier();
  return failures;
}
