/* Conjugate gradients on a tridiagonal matrix in spread compressed rows; vector by (local) gather. */
#include "conjugate_gradients.h"

static vector_t x, r, p, q;
static int *gather_from;

double dot(vector_t a, vector_t b)
{
  int i; double s = 0.0;
  double *la = (double *)(a.data + MYPROC), *lb = (double *)(b.data + MYPROC);
  for (i = 0; i < a.local; i++) s += la[i] * lb[i];
  return all_reduce_to_all_dadd(s);
}

/* y := A x; the remote entries are fetched split-phase, in column order */
void matvec(matrix_t *A, vector_t *xx, vector_t *yy)
{
  int i, k;
  double *y = tolocal(yy->data + MYPROC);
  double *values = (double *) malloc((A->nnz + 1) * sizeof(double));
  for (k = 0; k < A->nnz; k++) {
    int c = A->col[k];
    values[k] := *((double *global)(xx->data + OWNER(c)) + INDEX(c));
  }
  sync();
  for (i = 0; i < A->rows; i++) {
    y[i] = 0;
    for (k = A->start[i]; k < A->start[i+1]; k++) y[i] += A->val[k] * values[k];
  }
  free(values);
  barrier();
}

void axpy(double alpha, vector_t a, vector_t b)
{
  register int i;
  register double *la = tolocal(a.data + MYPROC), *lb = tolocal(b.data + MYPROC);
  for (i = 0; i < a.local; i++) lb[i] += alpha * la[i];
}

vector_t make_vector(int n)
{
  vector_t v;
  v.n = n; v.local = n / PROCS;
  v.data = all_spread_malloc(PROCS, v.local * sizeof(double));
  assert_spread(v.data);
  return v;
}

int splitc_main(int argc, char **argv)
{
  int n = 16 * PROCS, i, k, iter;
  double rho, alpha, beta, old;
  matrix_t *A = malloc(sizeof *A);
  A->rows = n / PROCS; A->nnz = 0;
  A->start = malloc((A->rows + 1) * sizeof(int));
  A->col = malloc(3 * A->rows * sizeof(int)); A->val = malloc(3 * A->rows * sizeof(double));
  for (i = 0; i < A->rows; i++) {
    int row = MYPROC * A->rows + i;
    A->start[i] = A->nnz;
    for (k = row - 1; k <= row + 1; k++)
      if (k >= 0 && k < n) { A->col[A->nnz] = k; A->val[A->nnz++] = k == row ? 4.0 :-1.0; }
  }
  A->start[A->rows] = A->nnz;
  x = make_vector(n); r = make_vector(n); p = make_vector(n); q = make_vector(n);
  for (i = 0; i < x.local; i++) {
    tolocal(r.data + MYPROC)[i] = tolocal(p.data + MYPROC)[i] = 1.0;
  }
  barrier();
  rho = dot(r, r);
  for (iter = 0; iter < 60 && rho > 1e-24; iter++) {
    matvec(A, &p, &q);
    alpha = rho / dot(p, q);
    axpy(alpha, p, x);
    axpy(-alpha, q, r);
    old = rho; rho = dot(r, r); beta = rho / old;
    for (i = 0; i < p.local; i++) {
      double *lp = (double *)(p.data + MYPROC);
      lp[i] = ((double *)(r.data + MYPROC))[i] + beta * lp[i];
    }
    barrier();
  }
  matvec(A, &x, &q);
  for (i = 0; i < q.local; i++)
    if (fabs(tolocal(q.data + MYPROC)[i] - 1.0) > 1e-9) { printf("wrong at %d\n", i); exit(1); }
  on_one { printf("cg: n = %d, solved, x[0] = %.6f x[last] = %.6f\n", n, *x.data, ((double *global)(x.data + (PROCS-1)))[x.local-1]); }
  barrier();
  return 0;
}
