// What the C tests share: checks that end the job, and a list of cases that all processes run in
// the same order, after AMX_SPMDStartup().
#ifndef TESTS_AM_C_CHECK_H
#define TESTS_AM_C_CHECK_H

#include <stdint.h>

#include "am/c/am2.h"

#ifdef __cplusplus
extern "C" {
#endif

// AM_PAR with TEST_PARALLEL_BUNDLE in the environment; else AM_SEQ.
int bundle_type(void);

// Of this job: what AMX_SPMDStartup() gave; or an AM_PAR bundle with the endpoint in it.
extern eb_t bundle;
extern ep_t endpoint;
int rank(void);
int procs(void);
int right(void);  // the next process, and the one before
int left(void);

// All processes meet, running handlers meanwhile.
void barrier(void);
// Polls until *count is at least `wanted`.
void poll_until(const int* count, int wanted);
// Puts a handler at an index, whatever was there.
void set(ep_t at, handler_t index, AM_handler_fn_t function);

// The seed, which --seed=N sets; and numbers that follow from it.
uint64_t seed(void);
uint32_t next_random(uint64_t* state);

// Print what was expected, and end the job, unless it holds.
void check_that(int holds, const char* what, const char* file, int line);
void check_equal(long long got, long long wanted, const char* what, const char* file, int line);
void check_returns(int code, int wanted, const char* call, const char* file, int line);
#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
#define CHECK_EQ(got, wanted) \
  check_equal((long long)(got), (long long)(wanted), #got, __FILE__, __LINE__)
// A call returns that code; a call that fails has said why.
#define CHECK_RETURNS(wanted, call) check_returns((call), (wanted), #call, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_RETURNS(AM_OK, call)

typedef struct {
  const char* name;
  void (*run)(void);
} Case;
// Runs them, each between two barriers. For main() to return.
int run_cases(int argc, char** argv, const Case* cases, int count);
#define RUN_CASES(argc, argv, cases) \
  run_cases(argc, argv, cases, (int)(sizeof(cases) / sizeof((cases)[0])))

#ifdef __cplusplus
}
#endif

#endif
