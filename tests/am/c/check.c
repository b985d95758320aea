#include "tests/am/c/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "am/c/spmd.h"

eb_t bundle;
ep_t endpoint;
static uint64_t chosen_seed = 1;
static const char* running = "the start";

int rank(void) { return AMX_SPMDMyProc(); }
int procs(void) { return AMX_SPMDNumProcs(); }
int right(void) { return (rank() + 1) % procs(); }
int left(void) { return (rank() + procs() - 1) % procs(); }

void barrier(void) { CHECK_OK(AMX_SPMDBarrier()); }

void poll_until(const int* count, int wanted) {
  while (*count < wanted) CHECK_OK(AM_Poll(bundle));
}

void set(ep_t at, handler_t index, AM_handler_fn_t function) {
  CHECK_OK(AM_ReplaceHandler(at, index, function));
}

uint64_t seed(void) { return chosen_seed; }

// Marsaglia's xorshift64*.
uint32_t next_random(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (uint32_t)((*state * UINT64_C(2685821657736338717)) >> 32);
}

// With a code that is not 0, so that the job ends and the test fails.
static void fail(void) {
  fflush(NULL);
  _exit(1);
}

void check_that(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: %s: rank %d, seed %" PRIu64 ": not so: %s\n", file, line, running, rank(),
          chosen_seed, what);
  fail();
}

void check_equal(long long got, long long wanted, const char* what, const char* file, int line) {
  if (got == wanted) return;
  fprintf(stderr, "%s:%d: %s: rank %d, seed %" PRIu64 ": %s is %lld, not %lld\n", file, line,
          running, rank(), chosen_seed, what, got, wanted);
  fail();
}

void check_returns(int code, int wanted, const char* call, const char* file, int line) {
  if (code != wanted) {
    fprintf(stderr, "%s:%d: %s: rank %d, seed %" PRIu64 ": %s returns %s, not %s (%s)\n", file,
            line, running, rank(), chosen_seed, call, AM_ErrorName(code), AM_ErrorName(wanted),
            AM_ErrorSentence());
    fail();
  }
  check_that(code == AM_OK || AM_ErrorSentence()[0] != '\0', "a call that fails says why", file,
             line);
}

int bundle_type(void) { return getenv("TEST_PARALLEL_BUNDLE") != NULL ? AM_PAR : AM_SEQ; }

int run_cases(int argc, char** argv, const Case* cases, int count) {
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--seed=", 7) == 0) chosen_seed = strtoull(argv[i] + 7, NULL, 10);
  }
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) {
    fprintf(stderr, "%s\n", AM_ErrorSentence());
    return 1;
  }
  if (bundle_type() == AM_PAR) {
    const eb_t sequential = bundle;
    CHECK_OK(AM_AllocateBundle(AM_PAR, &bundle));
    CHECK_OK(AM_MoveEndpoint(endpoint, sequential, bundle));
  }
  if (rank() == 0) printf("seed %" PRIu64 "\n", chosen_seed);
  for (int i = 0; i < count; ++i) {
    barrier();
    running = cases[i].name;
    cases[i].run();
    barrier();
    if (rank() == 0) printf("passed: %s\n", cases[i].name);
  }
  return 0;
}
