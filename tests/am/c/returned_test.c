// What comes back, and how: every status that a wrong message can have, with what was sent. Checked
// against what this program knows to be wrong with it.
#include <string.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kSink = 7, kAsk = 8, kMissing = 99, kArea = 256 };

static int came_back;
static struct {
  int status, opcode, destination, handler, numargs;
  int32_t args[16];
  size_t nbytes;
  uintptr_t offset;
  char payload[8];
} last;

static void on_returned(int status, op_t opcode, void* argblock) {
  const AM_returned_t* block = (const AM_returned_t*)argblock;
  last.status = status;
  last.opcode = (int)opcode;
  last.destination = block->destination;
  last.handler = block->handler;
  last.numargs = block->numargs;
  for (int i = 0; i < block->numargs; ++i) last.args[i] = block->args[i];
  last.nbytes = block->nbytes;
  last.offset = block->dest_offset;
  if (block->buffer != NULL) memcpy(last.payload, block->buffer, sizeof last.payload);
  CHECK(block->endpoint == endpoint);
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Request0(endpoint, right(), kSink));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(argblock, kSink));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Poll(bundle));
  ++came_back;
}

static int sunk;
static void on_sink(void* token, int32_t a, int32_t b) {
  (void)token;
  CHECK_EQ(a, 3);
  CHECK_EQ(b, 4);
  ++sunk;
}

static unsigned char* segment;

static void prepare(void) {
  uintptr_t bytes;
  came_back = 0;
  set(endpoint, 0, (AM_handler_fn_t)on_returned);
  set(endpoint, kSink, on_sink);
  CHECK_OK(AM_GetProcessSegment((void**)&segment, &bytes));
  memset(segment, 0, 2 * kArea);
  CHECK_OK(AM_SetSeg(endpoint, segment, kArea));
  barrier();
}

static void expect(int status, int opcode, int handler, int numargs) {
  poll_until(&came_back, 1);
  CHECK_EQ(came_back, 1);
  CHECK_EQ(last.status, status);
  CHECK_EQ(last.opcode, opcode);
  CHECK_EQ(last.handler, handler);
  CHECK_EQ(last.destination, right());
  CHECK_EQ(last.numargs, numargs);
  for (int i = 0; i < numargs; ++i) CHECK_EQ(last.args[i], 3 + i);
  came_back = 0;
}

static void an_empty_handler(void) {
  prepare();
  CHECK_OK(AM_Request2(endpoint, right(), kMissing, 3, 4));
  expect(EBADHANDLER, AM_REQUEST_M, kMissing, 2);
  CHECK_OK(AM_RequestI1(endpoint, right(), kMissing, "payload", 8, 3));
  expect(EBADHANDLER, AM_REQUEST_IM, kMissing, 1);
  CHECK_EQ(last.nbytes, 8);
  CHECK(memcmp(last.payload, "payload", 8) == 0);
  CHECK_OK(AM_RequestXfer0(endpoint, right(), 16, kMissing, "payload", 8));
  expect(EBADHANDLER, AM_REQUEST_XFER_M, kMissing, 0);
  CHECK_EQ(last.nbytes, 8);
  CHECK_EQ(last.offset, 16);
}

static void another_tag(void) {
  tag_t tag;
  sunk = 0;
  prepare();
  CHECK_OK(AM_GetTag(endpoint, &tag));
  CHECK_OK(AM_SetTranslationTag(endpoint, right(), tag + 1));
  CHECK_OK(AM_Request2(endpoint, right(), kSink, 3, 4));
  expect(EBADTAG, AM_REQUEST_M, kSink, 2);
  // AM_ALL is a wildcard at the receiver, and nowhere else.
  CHECK_OK(AM_SetTranslationTag(endpoint, right(), AM_ALL));
  CHECK_OK(AM_Request2(endpoint, right(), kSink, 3, 4));
  expect(EBADTAG, AM_REQUEST_M, kSink, 2);
  barrier();
  CHECK_OK(AM_SetTag(endpoint, AM_ALL));
  barrier();
  CHECK_OK(AM_SetTranslationTag(endpoint, right(), 12345));
  CHECK_OK(AM_Request2(endpoint, right(), kSink, 3, 4));
  poll_until(&sunk, 1);
  barrier();
  CHECK_OK(AM_SetTag(endpoint, AM_NONE));
  barrier();
  CHECK_OK(AM_Request2(endpoint, right(), kSink, 3, 4));
  expect(EBADTAG, AM_REQUEST_M, kSink, 2);
  barrier();
  CHECK_OK(AM_SetTag(endpoint, tag));
  CHECK_OK(AM_SetTranslationTag(endpoint, right(), tag));
  barrier();
}

// Nothing is written where a message comes back.
static void outside_the_segment(void) {
  set(endpoint, kAsk, on_sink);
  prepare();
  CHECK_OK(AM_RequestXfer1(endpoint, right(), kArea + 1, kAsk, "payload", 8, 3));
  expect(EBADSEGOFF, AM_REQUEST_XFER_M, kAsk, 1);
  CHECK_OK(AM_RequestXfer1(endpoint, right(), kArea - 7, kAsk, "payload", 8, 3));
  expect(EBADLENGTH, AM_REQUEST_XFER_M, kAsk, 1);
  CHECK_EQ(last.offset, kArea - 7);
  CHECK_OK(AM_RequestXfer1(endpoint, right(), ~(uintptr_t)0, kAsk, "payload", 8, 3));
  expect(EBADSEGOFF, AM_REQUEST_XFER_M, kAsk, 1);
  barrier();
  for (int i = 0; i < 2 * kArea; ++i) CHECK_EQ(segment[i], 0);
}

static void an_endpoint_that_was_freed(void) {
  en_t mine, theirs;
  ep_t gone;
  static en_t all[64];
  int index;
  prepare();
  CHECK(procs() <= 64);
  CHECK_OK(AM_AllocateEndpoint(bundle, &gone, &mine));
  CHECK_OK(AMX_SPMDAllGather(&mine, all, sizeof mine));
  theirs = all[right()];
  CHECK_OK(AM_FreeEndpoint(gone));
  barrier();
  CHECK_OK(AM_MapAny(endpoint, &index, theirs, 1));
  CHECK_OK(AM_Request2(endpoint, index, kSink, 3, 4));
  expect(EBADENDPOINT, AM_REQUEST_M, kSink, 2);
  CHECK_OK(AM_Unmap(endpoint, index));
}

static int asked;
static void on_ask(void* token) {
  CHECK_OK(AM_Reply2(token, kMissing, 3, 4));
  ++asked;
}
static void on_ask_far_away(void* token) {
  CHECK_OK(AM_ReplyXfer1(token, 1 << 20, kSink, "payload", 8, 3));
  ++asked;
}

// A reply that cannot be delivered comes back to who has replied: this process, of the one before.
//
static void a_reply(void) {
  prepare();
  asked = 0;
  set(endpoint, kAsk, on_ask);
  barrier();
  CHECK_OK(AM_Request0(endpoint, right(), kAsk));
  poll_until(&asked, 1);
  poll_until(&came_back, 1);
  CHECK_EQ(last.opcode, AM_REPLY_M);
  CHECK_EQ(last.status, EBADHANDLER);
  CHECK_EQ(last.handler, kMissing);
  CHECK_EQ(last.destination, left());
  CHECK_EQ(last.numargs, 2);
  barrier();
  asked = came_back = 0;
  set(endpoint, kAsk, on_ask_far_away);
  barrier();
  CHECK_OK(AM_Request0(endpoint, right(), kAsk));
  poll_until(&asked, 1);
  poll_until(&came_back, 1);
  CHECK_EQ(last.opcode, AM_REPLY_XFER_M);
  CHECK_EQ(last.status, EBADSEGOFF);
  CHECK_EQ(last.offset, 1 << 20);
}

// Credits are intact afterwards: twice the window comes back.
static void many(void) {
  prepare();
  for (int i = 0; i < 128; ++i) CHECK_OK(AM_Request1(endpoint, right(), kMissing, i));
  poll_until(&came_back, 128);
  barrier();
  CHECK_EQ(came_back, 128);
  AM_stats_t statistics;
  CHECK_OK(AM_GetEndpointStatistics(endpoint, &statistics));
  CHECK(statistics.ReturnedMessages >= 128 && statistics.RejectedMessages >= 128);
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"an empty handler", an_empty_handler},
      {"another tag", another_tag},
      {"outside the segment", outside_the_segment},
      {"an endpoint that was freed", an_endpoint_that_was_freed},
      {"a reply", a_reply},
      {"many", many},
  };
  return RUN_CASES(argc, argv, cases);
}
