#ifndef SAMPLE_SORT_H
#define SAMPLE_SORT_H

#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

typedef struct {
  unsigned key;
  int from;
} record_t;
/* Records of one process that another one has to fetch. */
typedef struct run {
  int length;
  record_t* global where;
} run_t;

int compare(const void* a, const void* b);
int all_sample_sort(int n, record_t* spread A, record_t* spread Out, run_t Runs[PROCS] ::[PROCS]);
extern void test_sort(unsigned seed, int n, unsigned range);

#endif
