/* Names of the library: processes, collective operations, loops, words of C that C++ took, and memory. */
#include <stdio.h>
#include <math.h>
#include <split-c/split-c.h>
#include "check.h"

typedef int bool;
#define true 1
enum { class = 3 };

struct new { int this; struct new *delete; };

static int template(struct new *try) { return try->this + try->delete->this; }

void test_processes(void)
{
  int ones = 0, lasts = 0, before = 0;
  double then = get_seconds();
  CHECK(MYPROC >= 0 && MYPROC < PROCS);
  CHECK(PROCSLOG < 0 ? (PROCS & (PROCS - 1)) != 0 : 1 << PROCSLOG == PROCS);
  on_one { ones++; }
  on_proc(PROCS - 1) lasts++;
  CHECK(all_reduce_to_all_add(ones) == 1 && all_reduce_to_all_add(lasts) == 1 && ones == (MYPROC == 0));
  CHECK(get_seconds() >= then && before == 0);
}

void test_collectives(void)
{
  int i, x = 3 * MYPROC - 1, sum = 0, product = 1, *v = calloc(PROCS, sizeof(int));
  double d = 0.5 + MYPROC, dsum = 0;
  for (i = 0; i < PROCS; i++) { sum += 3 * i - 1; product *= i + 1; dsum += 0.5 + i; }
  CHECK(all_bcast(x) == -1 && all_bcast_i(MYPROC + 2) == 2 && all_bcast_d(d) == 0.5);
  CHECK(all_reduce_to_all_add(x) == sum && all_reduce_to_all_min(x) == -1);
  CHECK(all_reduce_to_all_max(x) == 3 * PROCS - 4 && all_reduce_to_all_mul(MYPROC + 1) == product);
  CHECK(all_reduce_to_all_dadd(d) == dsum && all_reduce_to_all_dmin(d) == 0.5);
  CHECK(all_reduce_to_all_dmax(d) == PROCS - 0.5);
  CHECK(all_reduce_to_all_and(MYPROC | 8) == 8 && (all_reduce_to_all_or(1 << MYPROC) == (1 << PROCS) - 1));
  i = all_reduce_to_all_xor(1); CHECK(i == PROCS % 2);
  i = all_reduce_to_one_add(x); if (MYPROC == 0) CHECK(i == sum);
  i = all_reduce_to_one_max(x); on_one CHECK(i == 3 * PROCS - 4);
  d = all_reduce_to_one_dmax(d); on_one CHECK(d == PROCS - 0.5);
  CHECK(all_scan_add(1) == MYPROC + 1 && all_scan_max(x) == x && all_scan_min(x) == -1);
  v[0] = 10 * MYPROC; all_concat(v);
  for (i = 0; i < PROCS; i++) CHECK(v[i] == 10 * i);
  v[0] = 20 * MYPROC; all_gather(v);
  on_one { for (i = 0; i < PROCS; i++) CHECK(v[i] == 20 * i); }
  free(v);
}

void test_memory(void)
{
  int i, n = 100, *list = malloc(n * sizeof(int)), *global shown;
  void *anything = list;
  int *again = anything;
  for (i = 0; i < n; i++) again[i] = i * i;
  list = realloc(list, 5 * n * sizeof *list);
  for (i = 0; i < n; i++) CHECK(list[i] == i * i);
  shown = toglobal(MYPROC, list);
  CHECK(shown[9] == 81 && (int *)shown == list);
  free(list);
  list = malloc((size_t)400 << 20);     /* more than a segment has: the C library's */
  CHECK(list != NULL);
  free(list);
}

/* The functions of memory as values, and after the job. */
static void *last_block;
static void release(void) { free(last_block); free(NULL); }
static void each(void **list, int n, void (*done)(void *)) { while (n-- > 0) done(list[n]); }

void test_memory_by_functions(void)
{
  void *list[8], *(*allocate)(size_t) = malloc;
  int i, *global far;
  for (i = 0; i < 8; i++) list[i] = i % 2 ? (*allocate)(100) : strdup("of the C library");
  far = (int *global)(int *)list[1];
  *far = 5;
  CHECK(*(int *)list[1] == 5);
  each(list, 8, free);
  last_block = calloc(10, 10);
  atexit(release);
}

void test_words(void)
{
  struct new last, first;
  bool friend = true;
  char *private = "a := b; *global p :- x; and T A[n]::[b] /* in a string */";
  last.this = class; last.delete = &last; first.delete = &last; first.this = 2 * friend;
  CHECK(template(&first) == 5 && template(&last) == 6 && private[2] == ':');
}

void test_values_in_calls(void)
{
  int *spread A = all_spread_malloc(PROCS, sizeof(int)), line[10];
  double *spread D = all_spread_malloc(PROCS, sizeof(double));
  char text[80];
  FILE *nowhere = fopen("/dev/null", "w");
  A[MYPROC] = 4 + MYPROC; D[MYPROC] = 9.0;
  barrier();
  CHECK(all_reduce_to_all_add(A[MYPROC]) == 4 * PROCS + PROCS * (PROCS - 1) / 2 && all_bcast(*(A + MYPROC)) == 4);
  CHECK(all_reduce_to_all_dmin(D[MYPROC]) == 9 && *tolocal(A[MYPROC]) == 4 + MYPROC);
  sprintf(text, "%d
%.1f %s %d", A[0], D[PROCS - 1], "word", *(A + PROCS - 1));
  CHECK(!strcmp(text, PROCS == 1 ? "4\n9.0 word 4" : PROCS == 2 ? "4\n9.0 word 5" : PROCS == 4 ? "4\n9.0 word 7" : "4\n9.0 word 11"));
  CHECK(snprintf(text, 3, "%d%.0f!", A[0], D[0]) == 3 && !strcmp(text, "49") && dprintf(fileno(nowhere), "%d", A[0]) == 1);
  fclose(nowhere);
  CHECK(sqrt(D[0]) == 3 && abs(-A[0]) == 4 && line + A[0] == &line[4] && (A[0] ? A[0] : 1) == 4);
  CHECK((char)A[0] == 4 && (double)A[0] / 8 == 0.5 && -A[0] + ~A[0] == -9 && !A[0] == 0);
  barrier();
  all_spread_free(A); all_spread_free(D);
}

int splitc_main(int argc, char *argv[])
{
  CHECK(argc >= 1 && argv[argc] == NULL);
  test_processes();
  test_collectives();
  test_memory();
  test_memory_by_functions();
  test_words();
  test_values_in_calls();
  barrier();
  return failures;
}
