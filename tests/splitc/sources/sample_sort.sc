/* Sorting by regular sampling: sorted blocks, samples, splitters, and an exchange of counted runs. */
#include "sample_sort.h"

int compare(const void *a, const void *b)
{
  record_t *x = (record_t *)a, *y = (record_t *)b;
  return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->from - y->from;
}

/* The samples of all go to process 0, which chooses the splitters. */
static void all_splitters(record_t *mine, int n, record_t Samples[PROCS]::[PROCS], record_t *splitters)
{
  record_t *all;
  int i, p, s = PROCS;
  for (i = 0; i < s; i++) Samples[MYPROC][i] = mine[(i * n) / s];
  barrier();
  on_one {
    all = (record_t *)malloc(s * PROCS * sizeof(record_t));
    for (p = 0; p < PROCS; p++) bulk_get(all + s * p, Samples[p], s * sizeof(record_t));
    sync();
    qsort(all, s * PROCS, sizeof(record_t), compare);
    for (i = 1; i < PROCS; i++) splitters[i] = all[i * s];
    for (p = 0; p < PROCS; p++) bulk_store(Samples[p], splitters, PROCS * sizeof(record_t));
    free(all);
  }
  store_sync(PROCS * sizeof(record_t));
  for (i = 1; i < PROCS; i++) splitters[i] = tolocal(Samples[MYPROC])[i];
}

int all_sample_sort(int n, record_t *spread A, record_t *spread Out, run_t Runs[PROCS]::[PROCS])
{
  record_t *mine = (record_t *)(A + MYPROC), *splitters = malloc(PROCS * sizeof(record_t));
  record_t Samples[PROCS]::[PROCS];
  int first, last, p, length = 0, total = 0;
  qsort(mine, n, sizeof(record_t), compare);
  all_splitters(mine, n, Samples, splitters);
  for (p = 0, first = 0; p < PROCS; p++, first = last) {
    last = n;
    if (p < PROCS - 1) for (last = first; last < n && compare(&mine[last], &splitters[p + 1]) < 0; last++) ;
    Runs[p][MYPROC].length :- last - first;
    Runs[p][MYPROC].where :- (record_t *global)(A + MYPROC) + first;
  }
  all_store_sync();
  for (p = 0; p < PROCS; p++) total += tolocal(Runs[MYPROC])[p].length;
  CHECK(total <= n * PROCS);
  for (p = 0; p < PROCS; p++) {
    run_t run = Runs[MYPROC][p];
    bulk_get(tolocal(Out + MYPROC) + length, run.where, run.length * sizeof(record_t));
    length += run.length;
  }
  sync();
  qsort((record_t *)(Out + MYPROC), length, sizeof(record_t), compare);
  barrier();
  free(splitters);
  return length;
}

void test_sort(unsigned seed, int n, unsigned range)
{
  record_t *spread A = all_spread_malloc(PROCS, n * sizeof(record_t));
  record_t *spread Out = all_spread_malloc(PROCS, n * PROCS * sizeof(record_t));
  record_t *oracle = malloc(n * PROCS * sizeof(record_t));
  run_t Runs[PROCS]::[PROCS];
  unsigned state = seed;
  int i, length, before;
  for (i = 0; i < n * PROCS; i++) { oracle[i].key = draw(&state) % range; oracle[i].from = i; }
  for (i = 0; i < n; i++) tolocal(A + MYPROC)[i] = oracle[n * MYPROC + i];
  barrier();
  length = all_sample_sort(n, A, Out, Runs);
  CHECK(all_reduce_to_all_add(length) == n * PROCS);
  qsort(oracle, n * PROCS, sizeof(record_t), compare);
  before = all_scan_add(length) - length;
  for (i = 0; i < length; i++) {
    CHECK(tolocal(Out + MYPROC)[i].key == oracle[before + i].key);
    CHECK(tolocal(Out + MYPROC)[i].from == oracle[before + i].from);
  }
  CHECK(length == 0 || Out[MYPROC].key == oracle[before].key);
  barrier();
  free(oracle);
  all_spread_free(A); all_spread_free(Out);
}

int splitc_main(int argc, char **argv)
{
  unsigned seed = seed_of(argc, argv);
  test_sort(seed, 500, 1u << 20);
  test_sort(seed + 1, 64, 3);
  test_sort(seed + 2, 200, 1);
  return failures;
}
