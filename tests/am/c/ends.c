// What ends_test.cc runs: a program in whose end, or beside whose end, something goes on that the
// argument names. It prints what it has seen.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "am/c/am2.h"
#include "am/c/spmd.h"

enum { kCount = 1, kEnd = 2, kMany = 100, kTag = 5 };

static eb_t bundle;
static ep_t endpoint;
static int counted;

static void on_count(void* token) {
  (void)token;
  ++counted;
}
static void on_end(void* token) {
  (void)token;
  AMX_SPMDExit(0);
}

static void check(int code) {
  if (code == AM_OK) return;
  fprintf(stderr, "%s\n", AM_ErrorSentence());
  _exit(1);
}

static void say_sentence(void) {
  AM_Poll(NULL);
  printf("%s\n", AM_ErrorSentence());
}
static void say_counted(void) { printf("counted %d\n", counted); }
static void say_late(void) {
  printf("%s\n", AM_ErrorName(AM_AllocateBundle(AM_SEQ, &bundle)));
  printf("%s\n", AM_ErrorName(AM_Init()));
}

// Runs in which thread the system chooses of those that do not block it.
static volatile sig_atomic_t blocked, disturbed;
static void on_alarm(int number) {
  (void)number;
  if (blocked) disturbed = 1;
}
static void ring_every_ms(void) {
  const struct itimerval each = {{0, 1000}, {0, 1000}};
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &each, NULL);
}
static volatile long sink;
static void compute(void) {
  for (long i = 0; i < 20000000; ++i) sink = i;
}

static void on_exit_asked(int code) {
  compute();
  printf("called back %d\n", code);
}

// Computes while alarms are blocked: no handler may run then, in whatever thread.
static void block_alarms(void) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  ring_every_ms();
  for (int i = 0; i < 5; ++i) {
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    blocked = 1;
    compute();
    blocked = 0;
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
  }
  printf("%s\n", disturbed ? "disturbed" : "in peace");
}

static ep_t make_endpoint(eb_t in, en_t* name) {
  ep_t made;
  check(AM_AllocateEndpoint(in, &made, name));
  check(AM_SetTag(made, kTag));
  check(AM_SetHandler(made, kCount, (AM_handler_fn_t)on_count));
  return made;
}

static en_t receiver;
static void* make_bundle_here(void* nothing) {
  eb_t made;
  check(AM_AllocateBundle(AM_SEQ, &made));
  make_endpoint(made, &receiver);
  check(AM_Poll(made));
  return nothing;
}

// More than there is credit for, to an endpoint that nobody polls any more.
static void send_and_leave(int in_another_thread) {
  pthread_t thread;
  en_t name;
  const ep_t sender = make_endpoint(bundle, &name);
  if (in_another_thread) {
    pthread_create(&thread, NULL, make_bundle_here, NULL);
    pthread_join(thread, NULL);
  } else {
    make_endpoint(bundle, &receiver);
  }
  check(AM_Map(sender, 0, receiver, kTag));
  for (int i = 0; i < kMany; ++i) check(AM_Request0(sender, 0, kCount));
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  // These run after what the library has registered.
  if (strcmp(way, "sentence") == 0) atexit(say_sentence);
  if (strcmp(way, "late") == 0) atexit(say_late);
  if (strncmp(way, "send", 4) == 0) atexit(say_counted);
  check(AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint));
  const int me = AMX_SPMDMyProc();
  check(AM_SetHandler(endpoint, kCount, (AM_handler_fn_t)on_count));
  check(AM_SetHandler(endpoint, kEnd, (AM_handler_fn_t)on_end));
  check(AMX_SPMDBarrier());
  if (strcmp(way, "sentence") == 0) AM_Poll(NULL);
  if (strcmp(way, "send") == 0) check(AM_Request0(endpoint, (me + 1) % AMX_SPMDNumProcs(), kCount));
  if (strcmp(way, "send to myself") == 0) send_and_leave(0);
  if (strcmp(way, "send to a thread that is gone") == 0) send_and_leave(1);
  if (strcmp(way, "blocked signals") == 0) block_alarms();
  if (strcmp(way, "exit among signals") == 0) {
    AMX_SPMDSetExitCallback(on_exit_asked);
    printf("in a buffer\n");
    ring_every_ms();
    check(AMX_SPMDBarrier());  // the first to exit ends the others, too: all have come this far
    AMX_SPMDExit(3);
  }
  if (strcmp(way, "exit 0") == 0) AMX_SPMDExit(0);
  if (strcmp(way, "exit 0 in a handler") == 0) {
    check(AM_Request0(endpoint, me, kEnd));
    for (;;) AM_Poll(bundle);
  }
  return 0;
}
