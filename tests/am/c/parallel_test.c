// An AM_PAR bundle, used by several threads of each process at the same time.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kThreads = 4, kEach = 60, kPing = 10, kPong, kText, kTextBack, kNote };

static eb_t shared;
static ep_t sender;
static tag_t tag;
static atomic_int pings, pongs[kThreads], texts[kThreads], notes, wrong;

static void on_pong(void* token, int32_t thread, int32_t n) {
  (void)token;
  (void)n;
  atomic_fetch_add(&pongs[thread], 1);
}
static void on_ping(void* token, int32_t thread, int32_t n) {
  atomic_fetch_add(&pings, 1);
  CHECK_OK(AM_Reply2(token, kPong, thread, n));
}
static int32_t byte_of(int32_t thread, int32_t n, int i) { return (thread * 31 + n * 7 + i) & 255; }
static void check_text(const void* buffer, int bytes, int32_t thread, int32_t n) {
  const unsigned char* const at = buffer;
  for (int i = 0; i < bytes; ++i) {
    if (at[i] != byte_of(thread, n, i)) atomic_fetch_add(&wrong, 1);
  }
}
static void on_text_back(void* token, void* buffer, int bytes, int32_t thread, int32_t n) {
  (void)token;
  check_text(buffer, bytes, thread, n);
  atomic_fetch_add(&texts[thread], 1);
}
static void on_text(void* token, void* buffer, int bytes, int32_t thread, int32_t n) {
  check_text(buffer, bytes, thread, n);
  CHECK_OK(AM_ReplyI2(token, kTextBack, buffer, (size_t)bytes, thread, n));
}
static void on_note(void* token) {
  (void)token;
  atomic_fetch_add(&notes, 1);
}

static void start(void) {
  en_t name;
  CHECK_OK(AM_AllocateBundle(AM_PAR, &shared));
  CHECK_OK(AM_AllocateEndpoint(shared, &sender, &name));
  tag = 7;
  CHECK_OK(AM_SetTag(sender, tag));
  set(sender, kPing, (AM_handler_fn_t)&on_ping);
  set(sender, kPong, (AM_handler_fn_t)&on_pong);
  set(sender, kText, (AM_handler_fn_t)&on_text);
  set(sender, kTextBack, (AM_handler_fn_t)&on_text_back);
  set(sender, kNote, (AM_handler_fn_t)&on_note);
  en_t names[64];
  CHECK(procs() <= 64);
  CHECK_OK(AMX_SPMDAllGather(&name, names, sizeof name));
  for (int to = 0; to < procs(); ++to) CHECK_OK(AM_Map(sender, to, names[to], tag));
  CHECK_OK(AM_SetEventMask(shared, AM_NOTEMPTY));
  barrier();
}

static void* send_and_wait(void* argument) {
  const int32_t thread = (int32_t)(intptr_t)argument;
  unsigned char text[200];
  for (int32_t n = 0; n < kEach; ++n) {
    for (int i = 0; i < (int)sizeof text; ++i) text[i] = (unsigned char)byte_of(thread, n, i);
    const int to = n % procs();
    CHECK_OK(AM_Request2(sender, to, kPing, thread, n));
    CHECK_OK(AM_RequestI2(sender, to, kText, text, sizeof text, thread, n));
    while (pongs[thread] <= n || texts[thread] <= n) {
      CHECK_OK(AM_Poll(shared));
      sched_yield();  // more threads than cores
    }
  }
  return NULL;
}

static void in_threads(void* (*body)(void*)) {
  pthread_t threads[kThreads];
  for (intptr_t i = 0; i < kThreads; ++i) {
    CHECK(pthread_create(&threads[i], NULL, body, (void*)i) == 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void threads_request_and_poll_at_the_same_time(void) {
  in_threads(&send_and_wait);
  barrier();  // others' requests are handled until all have their replies
  CHECK_EQ(wrong, 0);
  for (int i = 0; i < kThreads; ++i) {
    CHECK_EQ(pongs[i], kEach);
    CHECK_EQ(texts[i], kEach);
  }
  AM_stats_t statistics;
  CHECK_OK(AM_GetEndpointStatistics(sender, &statistics));
  CHECK_EQ(statistics.RequestsSent[AM_SHORT], kThreads * kEach);
  CHECK_EQ(statistics.RequestsSent[AM_MEDIUM], kThreads * kEach);
  CHECK_EQ(statistics.RepliesReceived[AM_MEDIUM], kThreads * kEach);
  CHECK_EQ(statistics.RequestDataBytesSent[AM_MEDIUM], kThreads * kEach * (200 + 8));
}

static void* wait_for_note(void* argument) {
  (void)argument;
  while (notes == 0) {
    CHECK_OK(AM_Wait(shared));
    CHECK_OK(AM_Poll(shared));
    // One more for those who have not woken for the first.
    CHECK_OK(AM_Request0(sender, rank(), kNote));
  }
  return NULL;
}

static void threads_wait_in_one_bundle(void) {
  CHECK_OK(AM_Request0(sender, right(), kNote));
  in_threads(&wait_for_note);
  barrier();
}

// What a thread of its own prepares for `doomed`, and what its commit returns when that was freed.
static ep_t doomed;
static pthread_barrier_t step;
static void* commit_after_the_end(void* code) {
  void* block = NULL;
  CHECK_OK(AMX_PrepareMedium(doomed, 0, 100, &block));
  memset(block, 1, 100);
  pthread_barrier_wait(&step);
  pthread_barrier_wait(&step);
  *(int*)code = AMX_CommitMedium(block, 100, kNote, 0, NULL);
  return NULL;
}

static void what_was_prepared_is_refused_when_another_thread_has_freed_the_endpoint(void) {
  en_t name;
  en_t names[64];
  pthread_t thread;
  int code = AM_OK;
  CHECK_OK(AM_AllocateEndpoint(shared, &doomed, &name));
  CHECK_OK(AMX_SPMDAllGather(&name, names, sizeof name));
  CHECK_OK(AM_Map(doomed, 0, names[right()], tag));
  CHECK_EQ(pthread_barrier_init(&step, NULL, 2), 0);
  CHECK_EQ(pthread_create(&thread, NULL, commit_after_the_end, &code), 0);
  pthread_barrier_wait(&step);
  CHECK_OK(AM_FreeEndpoint(doomed));
  pthread_barrier_wait(&step);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(code, AM_ERR_BAD_ARG);
  pthread_barrier_destroy(&step);
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"start", start},
      {"threads_request_and_poll_at_the_same_time", threads_request_and_poll_at_the_same_time},
      {"threads_wait_in_one_bundle", threads_wait_in_one_bundle},
      {"what_was_prepared_is_refused_when_another_thread_has_freed_the_endpoint",
       what_was_prepared_is_refused_when_another_thread_has_freed_the_endpoint},
  };
  return RUN_CASES(argc, argv, cases);
}
