#ifndef CONJUGATE_GRADIENTS_H
#define CONJUGATE_GRADIENTS_H
#include <math.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>
#define OWNER(c) ((c) / (n_local()))
#define INDEX(c) ((c) % (n_local()))
#define n_local() 16
#define assert_spread(p)                                 \
  do {                                                   \
    if ((p) == NULL) {                                   \
      fprintf(stderr, "PE %d: out of memory\n", MYPROC); \
      exit(1);                                           \
    }                                                    \
  } while (0)
typedef struct {
  int n, local;
  double* spread data;
} vector_t;
typedef struct {
  int rows, nnz, *start, *col;
  double* val;
} matrix_t;
double dot(vector_t, vector_t);
#endif
