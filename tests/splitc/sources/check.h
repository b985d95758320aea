/* What the programs of this folder check with: each returns how many checks have failed. */
#ifndef CHECK_H
#define CHECK_H

static int failures = 0;

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      printf("process %d, line %d: %s\n", MYPROC, __LINE__, #condition); \
      failures++;                                                        \
    }                                                                    \
  } while (0)

/* Numbers that look random, and are the same wherever they are drawn. */
static unsigned draw(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* The seed of a run: of the argument --seed=N, else 1; printed, so that a run can be repeated. */
static unsigned seed_of(int argc, char** argv) {
  unsigned seed = 1;
  int i;
  for (i = 1; i < argc; i++) sscanf(argv[i], "--seed=%u", &seed);
  on_one { printf("--seed=%u\n", seed); }
  return seed;
}

#endif
