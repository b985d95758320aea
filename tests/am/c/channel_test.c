// Put channels in C: each process receives from the one before and puts to the next. Checked
// against bytes that follow from process, put and place.
#include "am/c/channel.h"

#include <stdlib.h>
#include <string.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kMost = 70000, kGuard = 0xa5, kTry = 1 };

static AM_receiver_t in;
static AM_sender_t out;
static unsigned char* memory;  // of the segment
static unsigned char* source;
static int callbacks;

static unsigned char byte_of(int process, int put, size_t i) {
  return (unsigned char)((unsigned)process * 37u + (unsigned)put * 131u + i * 11u + (i >> 8));
}
static void on_put(void* data) {
  CHECK(data == &callbacks);
  ++*(int*)data;
}

// From the process before to the next one.
static void open_ring(size_t nbytes) {
  static AM_channel_t handles[64];
  AM_channel_t mine;
  void* segment;
  uintptr_t size;
  CHECK(procs() <= 64);
  CHECK_OK(AM_GetProcessSegment(&segment, &size));
  memory = segment;
  source = malloc(kMost);
  CHECK(source != NULL);
  memset(memory, kGuard, kMost + 1);
  callbacks = 0;
  CHECK_OK(AM_ChannelCreate(bundle, memory, nbytes, on_put, &callbacks, &in, &mine));
  CHECK_OK(AMX_SPMDAllGather(&mine, handles, sizeof mine));
  CHECK_OK(AM_ChannelAssocLocal(bundle, handles[right()], source, nbytes, &out));
  barrier();
}
static void close_ring(void) {
  CHECK_OK(AM_ChannelFreeSender(out));
  barrier();
  CHECK_OK(AM_ChannelFreeReceiver(in));
  free(source);
  barrier();
}

static void put(size_t nbytes, int number) {
  int reusable = 0;
  for (size_t i = 0; i < nbytes; ++i) source[i] = byte_of(rank(), number, i);
  CHECK_OK(AM_ChannelPut(out));
  for (;;) {
    CHECK_OK(AM_ChannelReusable(out, &reusable));
    if (reusable) break;
    CHECK_OK(AM_Poll(bundle));
  }
  memset(source, 0, nbytes);
}
static void expect(size_t nbytes, int number) {
  for (size_t i = 0; i < nbytes; ++i) CHECK_EQ(memory[i], byte_of(left(), number, i));
  CHECK_EQ(memory[nbytes], kGuard);
}

static void puts_arrive_whole_and_touch_nothing_else(void) {
  static const size_t sizes[] = {0, 1, 8, 64, 4096, 4097, kMost};
  for (int s = 0; s < 7; ++s) {
    open_ring(sizes[s]);
    for (int number = 1; number <= 3; ++number) {
      int in_use;
      put(sizes[s], number);
      poll_until(&callbacks, number);
      CHECK_EQ(callbacks, number);
      CHECK_OK(AM_ChannelInUse(in, &in_use));
      CHECK_EQ(in_use, 1);
      expect(sizes[s], number);
      CHECK_OK(AM_ChannelReady(in));
      CHECK_OK(AM_ChannelInUse(in, &in_use));
      CHECK_EQ(in_use, 0);
      barrier();
    }
    close_ring();
  }
}

// A put that comes between the two is remembered, however often the receiver polls.
static void a_marked_channel_reports_when_it_is_asked(void) {
  open_ring(64);
  put(64, 1);
  poll_until(&callbacks, 1);
  CHECK_OK(AM_ChannelReadyMark(in));
  barrier();
  put(64, 2);
  for (int i = 0; i < 3; ++i) barrier();  // which poll
  CHECK_EQ(callbacks, 1);
  CHECK_OK(AM_ChannelReadyPollQ(in));
  poll_until(&callbacks, 2);
  expect(64, 2);
  close_ring();
}

// A put goes round: each process puts in its callback, and is ready in it.
static int hops;
static void pass_on(void* data) {
  (void)data;
  CHECK_OK(AM_ChannelReady(in));
  ++hops;
  if (rank() != 0) CHECK_OK(AM_ChannelPut(out));
}
static void a_callback_may_put(void) {
  static AM_channel_t handles[64];
  static char byte;
  AM_channel_t mine;
  void* segment;
  uintptr_t size;
  hops = 0;
  CHECK_OK(AM_GetProcessSegment(&segment, &size));
  CHECK_OK(AM_ChannelCreate(bundle, segment, 1, pass_on, NULL, &in, &mine));
  CHECK_OK(AMX_SPMDAllGather(&mine, handles, sizeof mine));
  CHECK_OK(AM_ChannelAssocLocal(bundle, handles[right()], &byte, 1, &out));
  barrier();
  for (int round = 1; round <= 5; ++round) {
    if (rank() == 0) CHECK_OK(AM_ChannelPut(out));
    poll_until(&hops, round);
  }
  barrier();
  CHECK_OK(AM_ChannelFreeSender(out));
  barrier();
  CHECK_OK(AM_ChannelFreeReceiver(in));
}

static void buffers_may_be_exchanged(void) {
  unsigned char first[16], second[16], third[16];
  open_ring(16);
  memset(first, 1, 16);
  memset(second, 2, 16);
  memset(third, 3, 16);
  CHECK_OK(AM_ChannelSetBuffer(out, first, 16));
  CHECK_OK(AM_ChannelAlternate(out, second, 16));
  for (int number = 1; number <= 5; ++number) {
    const int wanted = number == 5 ? 3 : number % 2 == 1 ? 1 : 2;
    int reusable = 0;
    while (!reusable) {
      CHECK_OK(AM_Poll(bundle));
      CHECK_OK(AM_ChannelReusable(out, &reusable));
    }
    if (number == 5) CHECK_OK(AM_ChannelSetBuffer(out, third, 16));
    CHECK_OK(AM_ChannelPut(out));
    poll_until(&callbacks, number);
    for (int i = 0; i < 16; ++i) CHECK_EQ(memory[i], wanted);
    CHECK_OK(AM_ChannelReady(in));
    barrier();
  }
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelSetBuffer(out, third, 15));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelAlternate(out, NULL, 16));
  close_ring();
}

static void wrong_arguments_are_refused(void) {
  AM_channel_t handle, damaged;
  AM_receiver_t receiver;
  AM_sender_t sender;
  AM_channel_stats_t stats;
  eb_t parallel;
  int answer;
  char stack[8];
  open_ring(8);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelCreate(NULL, memory, 8, on_put, 0, &receiver, &handle));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelCreate(bundle, stack, 8, on_put, 0, &receiver, &handle));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelCreate(bundle, NULL, 8, on_put, 0, &receiver, &handle));
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AM_ChannelCreate(bundle, memory, SIZE_MAX, on_put, 0, &receiver, &handle));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelCreate(bundle, memory, 8, NULL, 0, &receiver, &handle));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelCreate(bundle, memory, 8, on_put, 0, NULL, &handle));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelCreate(bundle, memory, 8, on_put, 0, &receiver, NULL));
  CHECK_OK(AM_ChannelCreate(bundle, memory, 8, on_put, &callbacks, &receiver, &handle));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelAssocLocal(bundle, handle, stack, 7, &sender));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelAssocLocal(bundle, handle, NULL, 8, &sender));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelAssocLocal(bundle, handle, stack, 8, NULL));
  damaged = handle;
  damaged.opaque[0] ^= 1;
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_ChannelAssocLocal(bundle, damaged, stack, 8, &sender));
  CHECK_OK(AM_ChannelFreeReceiver(receiver));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_ChannelAssocLocal(bundle, handle, stack, 8, &sender));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelFreeReceiver(receiver));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelReady(receiver));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelReadyMark(NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelReadyPollQ((AM_receiver_t)(void*)stack));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelPut(NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelFreeSender((AM_sender_t)(void*)in));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelReusable(out, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelInUse(NULL, &answer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetChannelStatistics(bundle, NULL));
  CHECK_OK(AM_GetChannelStatistics(bundle, &stats));
  CHECK_EQ(stats.early + stats.lost + stats.stale + stats.ready_twice, 0);
  CHECK_OK(AM_AllocateBundle(AM_PAR, &parallel));
  CHECK_RETURNS(AM_ERR_RESOURCE,
                AM_ChannelCreate(parallel, memory, 8, on_put, 0, &receiver, &handle));
  CHECK_OK(AM_FreeBundle(parallel));
  close_ring();
}

static int tried;
static void on_try(void* token) {
  AM_receiver_t receiver;
  AM_sender_t sender;
  AM_channel_t handle = {{0}};
  (void)token;
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ChannelCreate(bundle, memory, 8, on_put, 0, &receiver, &handle));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ChannelAssocLocal(bundle, handle, memory, 8, &sender));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ChannelSetBuffer(out, source, 8));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ChannelFreeSender(out));
  CHECK_OK(AM_ChannelPut(out));
  ++tried;
}
static void on_try_in_callback(void* data) {
  (void)data;
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Poll(bundle));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Wait(bundle));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ChannelFreeSender(out));
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_SPMDBarrier());
  CHECK_OK(AM_ChannelFreeReceiver(in));
  ++callbacks;
}
static void handlers_may_put_and_callbacks_may_free(void) {
  static AM_channel_t handles[64];
  AM_channel_t mine;
  open_ring(8);
  CHECK_OK(AM_ChannelFreeSender(out));
  barrier();
  CHECK_OK(AM_ChannelFreeReceiver(in));
  tried = 0;
  set(endpoint, kTry, (AM_handler_fn_t)on_try);
  CHECK_OK(AM_ChannelCreate(bundle, memory, 8, on_try_in_callback, NULL, &in, &mine));
  CHECK_OK(AMX_SPMDAllGather(&mine, handles, sizeof mine));
  CHECK_OK(AM_ChannelAssocLocal(bundle, handles[right()], source, 8, &out));
  barrier();
  CHECK_OK(AM_Request0(endpoint, rank(), kTry));
  poll_until(&tried, 1);
  poll_until(&callbacks, 1);
  barrier();
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelReady(in));
  CHECK_OK(AM_ChannelFreeSender(out));
  free(source);
}

// The last case: a bundle is freed with open channels, and those of another one go on.
static void they_end_with_their_bundle(void) {
  AM_channel_t handle, other_handle;
  AM_receiver_t receiver, other_receiver;
  AM_sender_t sender;
  eb_t other;
  void* segment;
  uintptr_t size;
  char bytes[4] = "abc";
  CHECK_OK(AM_GetProcessSegment(&segment, &size));
  CHECK_OK(AM_ChannelCreate(bundle, segment, 4, on_put, &callbacks, &receiver, &handle));
  CHECK_OK(AM_AllocateBundle(AM_SEQ, &other));
  CHECK_OK(AM_ChannelCreate(other, segment, 4, on_put, &callbacks, &other_receiver, &other_handle));
  CHECK_OK(AM_ChannelAssocLocal(bundle, handle, bytes, 4, &sender));
  CHECK_OK(AM_MoveEndpoint(endpoint, bundle, other));
  CHECK_OK(AM_FreeBundle(bundle));
  bundle = other;
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelPut(sender));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ChannelReady(receiver));
  CHECK_OK(AM_ChannelReady(other_receiver));
  // And with the process.
  CHECK_OK(AM_ChannelCreate(other, segment, 4, on_put, &callbacks, &in, &handle));
  CHECK_OK(AM_ChannelAssocLocal(other, handle, bytes, 4, &out));
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"puts arrive whole and touch nothing else", puts_arrive_whole_and_touch_nothing_else},
      {"a marked channel reports when it is asked", a_marked_channel_reports_when_it_is_asked},
      {"a callback may put", a_callback_may_put},
      {"buffers may be exchanged", buffers_may_be_exchanged},
      {"wrong arguments are refused", wrong_arguments_are_refused},
      {"handlers may put and callbacks may free", handlers_may_put_and_callbacks_may_free},
      {"they end with their bundle", they_end_with_their_bundle},
  };
  return RUN_CASES(argc, argv, cases);
}
