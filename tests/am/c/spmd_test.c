// The SPMD layer, waiting, and statistics. Checked against what each process can compute of all.
#include "am/c/spmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/am/c/check.h"

enum { kPing = 1, kPong = 2, kBlock = 3 };

static unsigned char byte_of(int process, size_t i) {
  return (unsigned char)((unsigned)process * 37u + i * 11u + (i >> 9));
}

static void processes_are_numbered(void) {
  CHECK(rank() >= 0 && rank() < procs());
  const int mine = rank();
  int all[64];
  CHECK_OK(AMX_SPMDAllGather(&mine, all, sizeof mine));
  for (int i = 0; i < procs(); ++i) CHECK_EQ(all[i], i);
}

static void any_size_is_gathered(void) {
  uint64_t state = seed();
  const size_t sizes[] = {1, 7, 4096, 4097, 20000, next_random(&state) % 100000 + 1};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
    const size_t n = sizes[s];
    unsigned char* mine = malloc(n);
    unsigned char* all = malloc(n * (size_t)procs() + 1);
    CHECK(mine != NULL && all != NULL);
    for (size_t i = 0; i < n; ++i) mine[i] = byte_of(rank(), i);
    all[n * (size_t)procs()] = 0xa5;
    CHECK_OK(AMX_SPMDAllGather(mine, all, n));
    for (int p = 0; p < procs(); ++p)
      for (size_t i = 0; i < n; ++i) CHECK_EQ(all[(size_t)p * n + i], byte_of(p, i));
    CHECK_EQ(all[n * (size_t)procs()], 0xa5);
    free(mine);
    free(all);
  }
  CHECK_OK(AMX_SPMDAllGather(NULL, NULL, 0));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_SPMDAllGather(NULL, &state, 8));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_SPMDAllGather(&state, NULL, 8));
}

static void there_is_one_start(void) {
  eb_t b;
  ep_t e;
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_SPMDStartup(NULL, NULL, 0, NULL, &b, &e));
}

static void all_have_one_tag(void) {
  tag_t mine, all[64];
  CHECK_OK(AM_GetTag(endpoint, &mine));
  CHECK(mine != AM_NONE && mine != AM_ALL);
  CHECK_OK(AMX_SPMDAllGather(&mine, all, sizeof mine));
  for (int i = 0; i < procs(); ++i) CHECK(all[i] == mine);
}

// Process 0 is the master: the test sets one of these there alone, before the start.
static void the_environment_is_that_of_process_0(void) {
  CHECK(AMX_SPMDgetenvMaster("AM_TEST_OF_RANK") != NULL);
  CHECK(strcmp(AMX_SPMDgetenvMaster("AM_TEST_OF_RANK"), "0") == 0);
  CHECK(AMX_SPMDgetenvMaster("AM_TEST_NOT_SET") == NULL);
  CHECK(AMX_SPMDgetenvMaster(NULL) == NULL);
}

// As a program that passes them on to others would.
static void all_of_it_can_be_listed(void) {
  int found = 0, variables = 0;
  const char* const* const all = AMX_SPMDenvironMaster();
  for (; all[variables] != NULL; ++variables) {
    CHECK(strchr(all[variables], '=') != NULL);
    if (strcmp(all[variables], "AM_TEST_OF_RANK=0") == 0) ++found;
  }
  CHECK_EQ(found, 1);
  CHECK(variables > 1);
  CHECK(strcmp(AMX_SPMDgetenvMaster("AM_TEST_EMPTY"), "") == 0);
  CHECK(AMX_SPMDgetenvMaster("AM_TEST_OF") == NULL);  // not the whole name
  CHECK(AMX_SPMDgetenvMaster("") == NULL);
}

// Checked against what splitcrun --nodes says to each process. Nodes are numbered in the order of
// their first processes.
static void nodes_are_numbered(void) {
  const char* const told = getenv("SPLITC_NODE");
  const int mine = told == NULL ? 0 : atoi(told);
  int all[64], nodes = 0;
  CHECK_OK(AMX_SPMDAllGather(&mine, all, sizeof mine));
  for (int i = 0; i < procs(); ++i) {
    int first = 0;
    while (all[first] != all[i]) ++first;
    CHECK_EQ(AMX_SPMDNodeOf(i), first == i ? nodes : AMX_SPMDNodeOf(first));
    if (first == i) ++nodes;
  }
  CHECK_EQ(AMX_SPMDNumNodes(), nodes);
  CHECK_EQ(AMX_SPMDNodeOf(-1), -1);
  CHECK_EQ(AMX_SPMDNodeOf(procs()), -1);
  CHECK(AMX_SPMDIsWorker(NULL));
}

static int pings, pongs;
static void on_pong(void* token) {
  (void)token;
  ++pongs;
}
static void on_ping(void* token) {
  ++pings;
  CHECK_OK(AM_Reply0(token, kPong));
}

// A ring: process 0 sends, each waits for what comes and sends on.
static void waiting_ends_with_a_message(void) {
  int mask;
  pings = pongs = 0;
  set(endpoint, kPing, on_ping);
  set(endpoint, kPong, on_pong);
  CHECK_OK(AM_SetEventMask(bundle, AM_NOTEMPTY));
  barrier();
  if (rank() == 0) CHECK_OK(AM_Request0(endpoint, right(), kPing));
  while (pings == 0) {
    CHECK_OK(AM_Wait(bundle));
    CHECK_OK(AM_Poll(bundle));
  }
  if (rank() != 0) CHECK_OK(AM_Request0(endpoint, right(), kPing));
  while (pongs == 0) {
    CHECK_OK(AM_WaitSema(bundle));
    CHECK_OK(AM_Poll(bundle));
  }
  CHECK_OK(AM_GetEventMask(bundle, &mask));
  CHECK_EQ(mask, AM_NOTEMPTY);  // it stays
  barrier();
  CHECK_EQ(pings, 1);
}

static void a_mask_for_one_wait(void) {
  int mask;
  pings = 0;
  set(endpoint, kPing, on_ping);
  CHECK_OK(AM_SetEventMask(bundle, AM_NOTEMPTY | AM_ONESHOT));
  CHECK_OK(AM_Request0(endpoint, rank(), kPing));
  CHECK_OK(AM_Wait(bundle));  // it is there: at once
  CHECK_OK(AM_GetEventMask(bundle, &mask));
  CHECK_EQ(mask, AM_NOEVENTS);
  poll_until(&pings, 1);
}

static void without_events_nobody_waits(void) {
  CHECK_OK(AM_SetEventMask(bundle, AM_NOEVENTS));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Wait(bundle));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetEventMask(bundle, 8));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetEventMask(bundle, AM_ONESHOT));
}

static int blocks;
static void on_block(void* token, void* at, int nbytes, int32_t a) {
  (void)at;
  CHECK_EQ(nbytes, 5);
  CHECK_EQ(a, 1);
  CHECK_OK(AM_ReplyI2(token, kBlock + 1, "four", 4, 1, 2));
}
static void on_block_answer(void* token, void* at, int nbytes, int32_t a, int32_t b) {
  (void)token;
  CHECK(memcmp(at, "four", (size_t)nbytes) == 0);
  CHECK_EQ(a + b, 3);
  ++blocks;
}

static void messages_are_counted(void) {
  AM_stats_t now, sum = AM_initial_stats;
  FILE* file = tmpfile();
  blocks = 0;
  set(endpoint, kBlock, on_block);
  set(endpoint, kBlock + 1, on_block_answer);
  CHECK_OK(AM_ResetEndpointStatistics(endpoint));
  barrier();
  for (int i = 0; i < 10; ++i) CHECK_OK(AM_RequestI1(endpoint, right(), kBlock, "five!", 5, 1));
  poll_until(&blocks, 10);
  barrier();
  CHECK_OK(AM_GetEndpointStatistics(endpoint, &now));
  CHECK_EQ(now.RequestsSent[AM_MEDIUM], 10);
  CHECK_EQ(now.RequestsReceived[AM_MEDIUM], 10);
  CHECK_EQ(now.RepliesSent[AM_MEDIUM], 10);
  CHECK_EQ(now.RepliesReceived[AM_MEDIUM], 10);
  CHECK_EQ(now.RequestDataBytesSent[AM_MEDIUM], 10 * (5 + 4));
  CHECK_EQ(now.ReplyDataBytesSent[AM_MEDIUM], 10 * (4 + 8));
  CHECK_EQ(now.RequestsSent[AM_SHORT] + now.RequestsSent[AM_LONG] + now.ReturnedMessages, 0);
  CHECK_OK(AM_AggregateStatistics(&sum, &now));
  CHECK_OK(AM_AggregateStatistics(&sum, &now));
  CHECK_EQ(sum.RequestsSent[AM_MEDIUM], 20);
  CHECK(file != NULL);
  CHECK_OK(AM_DumpStatistics(file, &now));
  CHECK(ftell(file) > 200);
  fclose(file);
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"processes are numbered", processes_are_numbered},
      {"any size is gathered", any_size_is_gathered},
      {"there is one start", there_is_one_start},
      {"all have one tag", all_have_one_tag},
      {"the environment is that of process 0", the_environment_is_that_of_process_0},
      {"all of it can be listed", all_of_it_can_be_listed},
      {"nodes are numbered", nodes_are_numbered},
      {"waiting ends with a message", waiting_ends_with_a_message},
      {"a mask for one wait", a_mask_for_one_wait},
      {"without events nobody waits", without_events_nobody_waits},
      {"messages are counted", messages_are_counted},
  };
  const char* mine = getenv("SPLITC_RANK");  // as splitcrun sets it
  setenv("AM_TEST_OF_RANK", mine == NULL ? "0" : mine, 1);
  setenv("AM_TEST_EMPTY", "", 1);
  CHECK_EQ(AMX_SPMDNumProcs(), -1);
  CHECK(AMX_SPMDNodeOf(0) == -1 && AMX_SPMDNumNodes() == -1);
  CHECK(AMX_SPMDenvironMaster() == NULL);
  CHECK_RETURNS(AM_ERR_NOT_INIT, AMX_SPMDBarrier());
  CHECK(AMX_SPMDgetenvMaster("PATH") == NULL);
  return RUN_CASES(argc, argv, cases);
}
