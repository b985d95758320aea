/* Connected components of an image that is cut into tiles, one for each process: labels inside a tile
   first, then the least label goes over the borders until nothing changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>
#include <split-c/control.h>
#include "check.h"

#define BACKGROUND 0

typedef struct { int color; int label; } border_t;

/* The processes form a grid of v rows and w columns. */
static void grid(int *v, int *w)
{
  *v = 1;
  while (*v * *v < PROCS) *v *= 2;
  *w = PROCS / *v;
}

/* Inside the tile: every pixel takes the least label of its neighbours of the same color, to and fro. */
static int spread_labels(int q, int r, int *X, int *L)
{
  int changed = 0, again = 1, i, j, k, n;
  static int di[4] = {-1, 0, 1, 0}, dj[4] = {0, -1, 0, 1};
  while (again) {
    again = 0;
    for (n = 0; n < 2 * q * r; n++) {
      k = n < q * r ? n : 2 * q * r - 1 - n;
      i = k / r; j = k % r;
      if (X[k] == BACKGROUND) continue;
      for (k = 0; k < 4; k++) {
        int a = i + di[k], b = j + dj[k];
        if (a < 0 || b < 0 || a >= q || b >= r || X[a * r + b] != X[i * r + j]) continue;
        if (L[a * r + b] < L[i * r + j]) { L[i * r + j] = L[a * r + b]; again = changed = 1; }
      }
    }
  }
  return changed;
}

/* One side of the tile takes over the labels of the border that it was given. */
static int merge(int n, border_t *border, int *X, int *L, int first, int step)
{
  int k, changed = 0;
  for (k = 0; k < n; k++) {
    int at = first + k * step;
    if (X[at] == BACKGROUND || X[at] != border[k].color || L[at] <= border[k].label) continue;
    L[at] = border[k].label;
    changed = 1;
  }
  return changed;
}

void all_label(int v, int w, int q, int r, int X[v][w]::[q][r], int Labels[v][w]::[q][r])
{
  int ii = MYPROC / w, jj = MYPROC % w, i, j, k, changed = 1;
  int *locX = (int *)tolocal(X[ii][jj]), *locL = (int *)tolocal(Labels[ii][jj]);
  border_t *up = malloc(r * sizeof(border_t)), *left = malloc(q * sizeof(border_t));
  border_t *down = malloc(r * sizeof(border_t)), *right = malloc(q * sizeof(border_t));
  int *rowX = malloc(r * sizeof(int)), *rowL = malloc(r * sizeof(int));
  for (i = 0; i < q; i++)
    for (j = 0; j < r; j++)
      tolocal(Labels[ii][jj])[i][j] = (ii * q + i) * (w * r) + jj * r + j;
  spread_labels(q, r, locX, locL);
  while (all_reduce_to_all_max(changed)) {
    barrier();
    changed = 0;
    if (jj > 0) for (k = 0; k < q; k++) {
      left[k].color := X[ii][jj - 1][k][r - 1];
      left[k].label := Labels[ii][jj - 1][k][r - 1];
    }
    if (jj < w - 1) for (k = 0; k < q; k++) {
      right[k].color := X[ii][jj + 1][k][0];
      right[k].label := Labels[ii][jj + 1][k][0];
    }
    if (ii > 0) {                                        /* a row at once */
      bulk_get(rowX, X[ii - 1][jj][q - 1], r * sizeof(int));
      bulk_get(rowL, &Labels[ii - 1][jj][q - 1][0], r * sizeof(int));
    }
    sync();
    if (ii > 0) for (k = 0; k < r; k++) { up[k].color = rowX[k]; up[k].label = rowL[k]; }
    if (ii < v - 1) for (k = 0; k < r; k++) {            /* and one by one, waited for */
      down[k].color = X[ii + 1][jj][0][k];
      down[k].label = *(Labels[ii + 1][jj][0] + k);
    }
    barrier();
    if (ii > 0) changed |= merge(r, up, locX, locL, 0, 1);
    if (ii < v - 1) changed |= merge(r, down, locX, locL, (q - 1) * r, 1);
    if (jj > 0) changed |= merge(q, left, locX, locL, 0, r);
    if (jj < w - 1) changed |= merge(q, right, locX, locL, r - 1, r);
    if (changed) spread_labels(q, r, locX, locL);
  }
  free(up); free(left); free(down); free(right); free(rowX); free(rowL);
}

/* The oracle: a flood from every pixel that has no label yet, in the order of the labels. */
static void flood(int rows, int columns, int *image, int *labels)
{
  int *stack = malloc(4 * rows * columns * sizeof(int)), top, at, k, start;
  for (k = 0; k < rows * columns; k++) labels[k] = -1;
  for (start = 0; start < rows * columns; start++) {
    if (image[start] == BACKGROUND) { labels[start] = start; continue; }
    if (labels[start] >= 0) continue;
    labels[start] = start;
    stack[0] = start; top = 1;
    while (top > 0) {
      int near[4], n;
      at = stack[--top];
      near[0] = at >= columns ? at - columns :-1;
      near[1] = at < (rows - 1) * columns ? at + columns : -1;
      near[2] = at % columns ? at - 1 :-1;
      near[3] = at % columns < columns - 1 ? at + 1 : -1;
      for (n = 0; n < 4; n++) {
        if (near[n] < 0 || labels[near[n]] >= 0 || image[near[n]] != image[at]) continue;
        labels[near[n]] = start;
        stack[top++] = near[n];
      }
    }
  }
  free(stack);
}

static void test_image(unsigned seed, int q, int r, int colors)
{
  int v, w, i, j, k, ii = 0, jj = 0, *image, *labels;
  unsigned state = seed;
  grid(&v, &w);
  {
    int X[v][w]::[q][r], Labels[v][w]::[q][r];
    image = malloc(v * q * w * r * sizeof(int));
    labels = malloc(v * q * w * r * sizeof(int));
    for (k = 0; k < v * q * w * r; k++) image[k] = draw(&state) % (colors + 1);
    ii = MYPROC / w; jj = MYPROC % w;
    for (i = 0; i < q; i++) for (j = 0; j < r; j++) X[ii][jj][i][j] = image[(ii * q + i) * w * r + jj * r + j];
    barrier();
    all_label(v, w, q, r, X, Labels);
    flood(v * q, w * r, image, labels);
    for (i = 0; i < q; i++)
      for (j = 0; j < r; j++)
        CHECK(tolocal(Labels[ii][jj])[i][j] == labels[(ii * q + i) * w * r + jj * r + j]);
    on_one { CHECK(Labels[v - 1][w - 1][q - 1][r - 1] == labels[v * q * w * r - 1]); }
    barrier();
    free(image); free(labels);
  }
}

int splitc_main(int argc, char **argv)
{
  unsigned seed = seed_of(argc, argv);
  test_image(seed, 16, 12, 1);
  test_image(seed + 1, 7, 9, 2);
  test_image(seed + 2, 1, 3, 1);
  test_image(seed + 3, 10, 1, 1);
  return failures;
}
