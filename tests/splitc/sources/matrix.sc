/* C = A * B in blocks that lie in turn on the processes; what is not mine is fetched while the block
   before it is multiplied. */
#include <split-c/split-c.h>
#include "check.h"

#define B 4                       /* rows and columns of a block */
typedef double block_t[B][B];

double Left[3][5]::[B][B], Right[5][2]::[B][B], Product[3][2]::[B][B];

static double left_value(int i, int j) { return (i * 7 + j * 3) % 11 - 5; }
static double right_value(int i, int j) { return (i * 5 + j) % 7 - 2; }

static void multiply(double (*a)[B], double (*b)[B], double (*c)[B])
{
  int i, j, k;
  for (i = 0; i < B; i++)
    for (j = 0; j < B; j++)
      for (k = 0; k < B; k++) c[i][j] += a[i][k] * b[k][j];
}

void all_fill(int n, int m, double X[n][m]::[B][B], double (*value)(int i, int j))
{
  int i, j, a, b;
  for_my_2d(i, j, n, m) {
    double (*mine)[B] = tolocal(X[i][j]);
    for (a = 0; a < B; a++)
      for (b = 0; b < B; b++) mine[a][b] = (*value)(i * B + a, j * B + b);
  }
  barrier();
}

void all_multiply(int n, int r, int m, double C[n][m]::[B][B], double A[n][r]::[B][B], double D[r][m]::[B][B])
{
  block_t a[2], b[2];
  int i, j, k, now;
  for_my_2d(i, j, n, m) {
    double (*c)[B] = tolocal(C[i][j]);
    bulk_get(a[0], A[i][0], sizeof(block_t));
    bulk_get(b[0], &D[0][j][0][0], sizeof(block_t));
    for (k = 0; k < r; k++) {
      now = k % 2;
      sync();
      if (k + 1 < r) {
        bulk_get(a[1 - now], A[i][k + 1], sizeof(block_t));
        bulk_get(b[1 - now], &D[k + 1][j], sizeof(block_t));
      }
      multiply(a[now], b[now], c);
    }
  }
  barrier();
}

/* Blocks of any size, whose elements are read one by one. */
void test_run_time_blocks(int n, int q)
{
  double X[n][n]::[q][q], Y[n][n]::[q][q], row[q], expected;
  int i, j, k, a, b;
  for_my_2d(i, j, n, n)
    for (a = 0; a < q; a++)
      for (b = 0; b < q; b++) X[i][j][a][b] = left_value(i * q + a, j * q + b);
  barrier();
  for_my_2d(i, j, n, n)
    for (a = 0; a < q; a++) {
      bulk_read(row, X[i][j][a], q * sizeof(double));
      for (b = 0; b < q; b++)
        for (k = 0; k < n * q; k++) Y[i][j][a][b] += X[i][k / q][a][k % q] * X[k / q][j][k % q][b];
      CHECK(row[q - 1] == X[i][j][a][q - 1]);
    }
  barrier();
  for (i = MYPROC; i < n * q; i += PROCS)
    for (j = 0; j < n * q; j++) {
      for (expected = 0, k = 0; k < n * q; k++) expected += left_value(i, k) * left_value(k, j);
      CHECK(Y[i / q][j / q][i % q][j % q] == expected);
    }
  barrier();
}

splitc_main(int argc, char **argv)
{
  int i, j, k;
  double expected;
  all_fill(3, 5, Left, left_value);
  all_fill(5, 2, Right, right_value);
  all_multiply(3, 5, 2, Product, Left, Right);
  for (i = 0; i < 3 * B; i++)
    for (j = 0; j < 2 * B; j++) {
      for (expected = 0, k = 0; k < 5 * B; k++) expected += left_value(i, k) * right_value(k, j);
      CHECK(Product[i / B][j / B][i % B][j % B] == expected);
    }
  barrier();
  test_run_time_blocks(2, 3);
  test_run_time_blocks(3, 1);
  return failures;
}
