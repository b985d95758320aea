// What exit_test.cc runs: a job that ends in the way that the argument names. Every process prints
// "called back RANK CODE" when its exit callback runs.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "am/c/am2.h"
#include "am/c/spmd.h"

enum { kEnd = 1, kNote = 2 };

static eb_t bundle;
static ep_t endpoint;

// With write(), so that it is one piece.
static void on_exit_asked(int code) {
  char line[64];
  const int n = snprintf(line, sizeof line, "called back %d %d\n", AMX_SPMDMyProc(), code);
  if (write(STDOUT_FILENO, line, (size_t)n) != n) abort();
}

// In place of _exit().
static void on_killed(int code) {
  static const char line[] = "hook\n";
  if (write(STDOUT_FILENO, line, sizeof line - 1) < 0) abort();
  _exit(code + 1);
}

static void on_hang(int code) {
  (void)code;
  for (;;) pause();
}

static void on_signal(int number) { AMX_SPMDExit(number); }

static void on_end(void* token, int32_t code) {
  (void)token;
  AMX_SPMDExit(code);
}

static volatile int noted;
static void on_note(void* token) {
  (void)token;
  noted = 1;
}

static void* exit_in_thread(void* nothing) {
  (void)nothing;
  AMX_SPMDExit(9);
}

// Polls a bundle of its own for ever.
static void* poll_in_thread(void* ready) {
  eb_t own;
  if (AM_AllocateBundle(AM_SEQ, &own) != AM_OK) abort();
  pthread_barrier_wait(ready);
  for (;;) AM_Poll(own);
}

static void exit_beside_a_thread(void) {
  pthread_barrier_t ready;
  pthread_barrier_init(&ready, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, poll_in_thread, &ready);
  pthread_barrier_wait(&ready);
  AMX_SPMDExit(0);
}

static volatile double sink;
static void compute(void) {
  for (;;) sink = sink * 1.5 + 1;
}

// What those do that do not end the job themselves.
static void go_on(int me) {
  if (me % 4 == 0) compute();
  if (me % 4 == 1) AMX_SPMDBarrier();
  if (me % 4 == 2)
    for (;;) pause();
  for (;;) AM_Poll(bundle);
}

static void end_by_signal(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
}

// In the middle of printf and malloc: the callback needs what they hold.
static void end_by_alarm(void) {
  signal(SIGALRM, on_signal);
  ualarm(20000, 0);
  for (;;) {
    void* memory = malloc(100);
    printf("%s", memory == NULL ? " " : "");
    free(memory);
  }
}

static void end_by_message(int next) {
  AM_Request1(endpoint, next, kEnd, 6);
  go_on(3);
}

static void exit_again(void) { AMX_SPMDExit(0); }

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) {
    fprintf(stderr, "%s\n", AM_ErrorSentence());
    return 1;
  }
  const int me = AMX_SPMDMyProc();
  const int last = AMX_SPMDNumProcs() - 1;
  AMX_SPMDSetExitCallback(strcmp(way, "hang") == 0 ? on_hang : on_exit_asked);
  if (strcmp(way, "hook") == 0) AMX_SPMDkillmyprocess = on_killed;
  AM_SetHandler(endpoint, kEnd, on_end);
  printf("started %d\n", me);  // in a buffer, if that is no terminal
  AMX_SPMDBarrier();
  if (strcmp(way, "return") == 0) return 0;
  if (strcmp(way, "terminate") == 0) {
    AM_Terminate();
    exit(0);
  }
  if (strcmp(way, "again") == 0) atexit(exit_again);
  if (strcmp(way, "beside") == 0) exit_beside_a_thread();
  if (strcmp(way, "mixed") == 0) {
    if (me == 0) return 0;
    AMX_SPMDExit(0);
  }
  if (strcmp(way, "noted") == 0) {
    AM_SetHandler(endpoint, kNote, on_note);
    AMX_SPMDBarrier();
    AM_Request0(endpoint, (me + 1) % (last + 1), kNote);
    while (!noted) AM_Poll(bundle);
    AMX_SPMDExit(0);
  }
  if (strcmp(way, "all") == 0 || strcmp(way, "again") == 0) AMX_SPMDExit(0);
  if (me != last) go_on(me);
  if (strcmp(way, "one") == 0 || strcmp(way, "hang") == 0 || strcmp(way, "hook") == 0)
    AMX_SPMDExit(7);
  if (strcmp(way, "zero") == 0) AMX_SPMDExit(0);
  if (strcmp(way, "large") == 0) AMX_SPMDExit(255);
  if (strcmp(way, "signal") == 0) end_by_signal();
  if (strcmp(way, "alarm") == 0) end_by_alarm();
  if (strcmp(way, "message") == 0) end_by_message(0 == last ? 0 : 3 % (last + 1));
  if (strcmp(way, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, exit_in_thread, NULL);
    go_on(0);
  }
  return 1;
}
