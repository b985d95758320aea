/* A wave on a torus of tiles: ghost rows by bulk_get, ghost columns by gets, typedefs of arrays, the parts added up. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <split-c/split-c.h>
#include "check.h"

#define H 4
#define W 6
typedef struct { int rows, columns; double total; } summary_t;
typedef struct edge { double north[W], south[W], west[H], east[H]; int from[4]; } edge_t;
typedef double tile_t[H][W];

static double Now[2][PROCS]::[H][W], Then[2][PROCS]::[H][W];
static edge_t ghosts[2];
summary_t Summary[PROCS]::;
int steps = 3, *global shared_step;

#define UP(i) (((i) + 1) % 2)
#define LEFT(j) (((j) + PROCS - 1) % PROCS)
#define RIGHT(j) (((j) + 1) % PROCS)
#define TILE_BYTES sizeof(Now[0][0])
#define FOR_TILE(a, b) for (a = 0; a < H; a++) for (b = 0; b < W; b++)

static double start(int i, int j) { return (double)((i * 31 + j * 17) % 23) - 11; }

void get_ghosts(register edge_t *e, int i, int j)
{
  register int a;
  bulk_get(e->north, Now[UP(i)][j][H - 1], sizeof e->north);
  bulk_get(e->south, &Now[UP(i)][j][0][0], W * sizeof(double));
  for (a = 0; a < H; ++a) {
    e->west[a] := Now[i][LEFT(j)][a][W - 1];
    e->east[a] := *Now[i][RIGHT(j)][a];
  }
}

void step(double (*to)[W], double (*from)[W], edge_t *e)
{
  int a, b;
  FOR_TILE(a, b) {
    double n = a ? from[a - 1][b] : e->north[b], s = a + 1 < H ? from[a + 1][b] : e->south[b];
    double w = b ? from[a][b - 1] : e->west[a], x = b + 1 < W ? from[a][b + 1] : e->east[a];
    to[a][b] = 0.25 * (n + s + w + x);
  }
}

/* The same by one process, over the whole torus. */
double *serial(int rows, int columns, int n)
{
  double *a = malloc(rows * columns * sizeof *a), *b = malloc(rows * columns * sizeof *b), *t;
  int i, j;
  for (i = 0; i < rows; i++) for (j = 0; j < columns; j++) a[i * columns + j] = start(i, j);
  while (n--) {
    for (i = 0; i < rows; i++)
      for (j = 0; j < columns; j++)
        b[i * columns + j] = 0.25 * (a[(i + rows - 1) % rows * columns + j] + a[(i + 1) % rows * columns + j] +
          a[i * columns + (j + columns - 1) % columns] + a[i * columns + (j + 1) % columns]);
    t = a; a = b; b = t;
  }
  free(b);
  return a;
}

splitc_main(int argc, char **argv)
{
  int i, j, a, b, k;
  double *expected, (*now)[W], (*then)[W], sum = 0;
  double *spread corner = (double *spread)&Now[0][0][0][0];
  for_my_2d(i, j, 2, PROCS) {
    now = tolocal(Now[i][j]);
    FOR_TILE(a, b) now[a][b] = start(i * H + a, j * W + b);
  }
  if (argc > 1) steps = atoi(argv[1]);
  barrier();
  CHECK(*corner == start(0, 0) && toproc(corner + 1) == 1 % PROCS);
  for (k = 0; k < steps; k++) {
    for_my_2d(i, j, 2, PROCS) get_ghosts(&ghosts[i], i, j);
    sync();
    for_my_2d(i, j, 2, PROCS) {
      now = (double (*)[W])(double *)Now[i][j]; then = tolocal(Then[i][j]);
      step(then, now, ghosts + i);
    }
    barrier();
    for_my_2d(i, j, 2, PROCS) bulk_write(Now[i][j], tolocal(Then[i][j]), TILE_BYTES);
    barrier();
  }
  expected = serial(2 * H, PROCS * W, steps);
  for (i = 0; i < 2; i++)
    for (j = 0; j < PROCS; j++) {
      tile_t got;
      bulk_read(got, Now[i][j], sizeof(got));
      FOR_TILE(a, b) CHECK(fabs(got[a][b] - expected[(i * H + a) * PROCS * W + j * W + b]) < 1e-12);
    }
  for_my_2d(i, j, 2, PROCS) FOR_TILE(a, b) sum += Now[i][j][a][b];
  Summary[MYPROC].rows = 2 * H; Summary[MYPROC].total = sum; Summary[MYPROC].columns := PROCS * W;
  sync(); barrier();
  on_one {
    for (sum = 0, j = 0; j < PROCS; j++) { summary_t s; s = Summary[j]; sum += s.total; CHECK(s.columns == PROCS * W); }
    for (k = 0, a = 0; k < 2 * H * PROCS * W; k++) { a += (int)start(k / (PROCS * W), k % (PROCS * W)); }
    CHECK(fabs(sum - a) < 1e-9);
  }
  barrier();
  free(expected);
  return failures;
}
