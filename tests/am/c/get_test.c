// AM_GetXfer: reads of another endpoint's segment. Checked against bytes that follow from the
// process that has them and their offset.
#include <stdlib.h>
#include <string.h>

#include "am/c/spmd.h"
#include "am/c/statistics.h"
#include "tests/am/c/check.h"

enum { kGot = 1, kCounted = 2, kSource = 65536, kArea = 32768 };

static unsigned char* memory;  // kSource bytes that others read, and kArea that gets write
static int got, owner, wanted_count, wanted_bytes;
static uintptr_t from, to;

static unsigned char byte_of(int process, size_t i) {
  return (unsigned char)((unsigned)process * 41u + i * 13u + (i >> 7));
}

static void expect(void* token, const unsigned char* at, int nbytes, int n, const int32_t* args) {
  CHECK_EQ(nbytes, wanted_bytes);
  CHECK_EQ(n, wanted_count);
  CHECK(nbytes == 0 || (uintptr_t)at == (uintptr_t)memory + to);
  for (int i = 0; i < nbytes; ++i) CHECK_EQ(at[i], byte_of(owner, from + (size_t)i));
  for (int i = 0; i < n; ++i) CHECK_EQ(args[i], 100 + i);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(token, kGot));
  ++got;
}

static void on_0(void* token, void* at, int nbytes) { expect(token, at, nbytes, 0, NULL); }
static void on_2(void* token, void* at, int nbytes, int32_t a, int32_t b) {
  const int32_t args[] = {a, b};
  expect(token, at, nbytes, 2, args);
}
static void on_16(void* token, void* at, int nbytes AM_PARAMETERS_16) {
  const int32_t args[] = {AM_ARGUMENTS_16};
  expect(token, at, nbytes, 16, args);
}

static void prepare(unsigned char* place) {
  memory = place;
  for (size_t i = 0; i < kSource; ++i) memory[i] = byte_of(rank(), i);
  CHECK_OK(AM_SetSeg(endpoint, memory, kSource + kArea));
  barrier();
}

static void get(int of, int n, uintptr_t source, uintptr_t dest, size_t nbytes, int async) {
  static const int32_t args[16] = {100, 101, 102, 103, 104, 105, 106, 107,
                                   108, 109, 110, 111, 112, 113, 114, 115};
  owner = of;
  from = source;
  to = dest;
  wanted_bytes = (int)nbytes;
  wanted_count = n;
  got = 0;
  memset(memory + kSource, 0, kArea);
  set(endpoint, kGot,
      n == 0   ? (AM_handler_fn_t)on_0
      : n == 2 ? (AM_handler_fn_t)on_2
               : (AM_handler_fn_t)on_16);
  int code;
  do {
    if (n == 2 && async)
      code = AM_GetXferAsync2(endpoint, of, source, kGot, dest, nbytes, 100, 101);
    else if (n == 2)
      code = AM_GetXfer2(endpoint, of, source, kGot, dest, nbytes, 100, 101);
    else if (n == 0 && async)
      code = AM_GetXferAsync(endpoint, of, source, kGot, dest, nbytes, 0);
    else if (n == 0)
      code = AM_GetXfer(endpoint, of, source, kGot, dest, nbytes, 0);
    else if (async)
      code = AM_GetXferAsyncArgs(endpoint, of, source, kGot, dest, nbytes, n, args);
    else
      code = AM_GetXferArgs(endpoint, of, source, kGot, dest, nbytes, n, args);
    if (code == AM_ERR_NOT_SENT) CHECK_OK(AM_Poll(bundle));
  } while (code == AM_ERR_NOT_SENT);
  CHECK_OK(code);
  poll_until(&got, 1);
  CHECK_EQ(got, 1);
  for (size_t i = 0; i < kArea; ++i) {
    const int inside = kSource + i >= dest && kSource + i < dest + nbytes;
    if (!inside) CHECK_EQ(memory[kSource + i], 0);
  }
}

static void all_sizes(unsigned char* place) {
  static const size_t sizes[] = {0, 1, 8, 4095, 4096, 4097, 20000};
  static const int counts[] = {0, 2, 16};
  uint64_t state = seed() + (uint64_t)rank();
  prepare(place);
  for (int of = 0; of < 2; ++of)
    for (int s = 0; s < 7; ++s)
      for (int c = 0; c < 3; ++c)
        for (int async = 0; async < 2; ++async)
          get(of == 0 ? right() : rank(), counts[c], next_random(&state) % (kSource - 20000),
              kSource + next_random(&state) % (kArea - 20000), sizes[s], async);
  barrier();
}

static void of_shared_memory(void) {
  void* shared;
  uintptr_t bytes;
  CHECK_OK(AM_GetProcessSegment(&shared, &bytes));
  CHECK(bytes >= kSource + kArea);
  all_sizes(shared);
}
static void of_any_memory(void) {
  static unsigned char own[kSource + kArea];
  all_sizes(own);
}

// Offsets are addresses, which processes give each other.
static void of_all_memory(void) {
  static unsigned char own[64], mine[64];
  static uint64_t addresses[64];
  uintptr_t most;
  CHECK_OK(AM_MaxSegLength(&most));
  for (size_t i = 0; i < sizeof own; ++i) own[i] = byte_of(rank(), i);
  memset(mine, 0, sizeof mine);
  CHECK_OK(AM_SetSeg(endpoint, NULL, most));
  const uint64_t address = (uint64_t)(uintptr_t)own;
  CHECK_OK(AMX_SPMDAllGather(&address, addresses, sizeof address));
  owner = right();
  from = 0;
  memory = NULL;
  to = (uintptr_t)mine;
  wanted_bytes = 64;
  wanted_count = 0;
  got = 0;
  set(endpoint, kGot, on_0);
  CHECK_OK(AM_GetXfer0(endpoint, owner, (uintptr_t)addresses[owner], kGot, (uintptr_t)mine, 64));
  poll_until(&got, 1);
  barrier();
}

static int came_back;
static AM_returned_t last;
static int last_status;
static op_t last_opcode;
static void on_returned(int status, op_t opcode, void* argblock) {
  last_status = status;
  last_opcode = opcode;
  last = *(const AM_returned_t*)argblock;
  CHECK_EQ(last.numargs, 2);
  CHECK_EQ(last.args[1], 101);
  ++came_back;
}

static void what_is_not_there_comes_back(void) {
  static unsigned char own[kSource + kArea];
  prepare(own);
  set(endpoint, 0, (AM_handler_fn_t)on_returned);
  set(endpoint, kGot, on_2);
  came_back = 0;
  CHECK_OK(AM_GetXfer2(endpoint, right(), kSource + kArea - 1, kGot, kSource, 2, 100, 101));
  poll_until(&came_back, 1);
  CHECK_EQ(last_status, EBADLENGTH);
  CHECK_EQ(last_opcode, AM_REQUEST_XFER_M);
  CHECK_EQ(last.get, 1);
  CHECK_EQ(last.handler, kGot);
  CHECK_EQ(last.dest_offset, kSource + kArea - 1);
  CHECK_EQ(last.nbytes, 2);
  CHECK_OK(AM_GetXfer2(endpoint, right(), kSource + kArea + 1, kGot, kSource, 2, 100, 101));
  poll_until(&came_back, 2);
  CHECK_EQ(last_status, EBADSEGOFF);
  barrier();
}

// As am/c/statistics.h says. Each process gets once, and is asked once.
static void is_a_medium_request_and_a_long_reply(void) {
  static unsigned char own[kSource + kArea];
  AM_stats_t before, after;
  prepare(own);
  CHECK_OK(AM_GetEndpointStatistics(endpoint, &before));
  barrier();
  get(right(), 2, 0, kSource, 1000, 0);
  barrier();
  CHECK_OK(AM_GetEndpointStatistics(endpoint, &after));
  for (int k = 0; k < AM_NUM_CATEGORIES; ++k) {
    const uint64_t requests = k == AM_MEDIUM ? 1 : 0;
    const uint64_t replies = k == AM_LONG ? 1 : 0;
    CHECK_EQ(after.RequestsSent[k], before.RequestsSent[k] + requests);
    CHECK_EQ(after.RequestsReceived[k], before.RequestsReceived[k] + requests);
    CHECK_EQ(after.RepliesSent[k], before.RepliesSent[k] + replies);
    CHECK_EQ(after.RepliesReceived[k], before.RepliesReceived[k] + replies);
    CHECK_EQ(after.RequestDataBytesSent[k], before.RequestDataBytesSent[k]);
    CHECK_EQ(after.ReplyDataBytesSent[k], before.ReplyDataBytesSent[k]);
  }
  barrier();
}

static void what_does_not_fit_here_is_refused(void) {
  static unsigned char own[kSource + kArea];
  prepare(own);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetXfer0(endpoint, right(), 0, kGot, kSource + kArea - 1, 2));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetXfer0(endpoint, right(), 0, kGot, kSource + kArea + 1, 0));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetXfer0(endpoint, right(), 0, 0, 0, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetXfer0(endpoint, 255, 0, kGot, 0, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetXfer0(endpoint, rank(), 0, 200, 0, 1));  // not set
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetXfer(endpoint, right(), 0, kGot, 0, 1, 17));
  barrier();
}

static int counted;
static void on_counted(void* token, void* at, int nbytes) {
  (void)token, (void)at, (void)nbytes;
  ++counted;
}

// Beyond the window, and then others: what is queued is not overtaken for ever.
static void many_of_the_own_process(void) {
  static unsigned char own[kSource + kArea];
  prepare(own);
  set(endpoint, kCounted, on_counted);
  counted = 0;
  for (int i = 0; i < 500; ++i) {
    CHECK_OK(AM_GetXfer0(endpoint, rank(), 0, kCounted, kSource, 100));
    CHECK_EQ(counted, 0);
  }
  poll_until(&counted, 500);
  CHECK_EQ(counted, 500);
  barrier();
}

// The own segment is another one when the answer comes.
static void what_has_no_place_any_more_comes_back(void) {
  static unsigned char own[kSource + kArea];
  prepare(own);
  set(endpoint, 0, (AM_handler_fn_t)on_returned);
  set(endpoint, kGot, on_2);
  came_back = 0;
  CHECK_OK(AM_GetXfer2(endpoint, rank(), 3, kGot, kSource + 7, 2, 100, 101));
  CHECK_OK(AM_SetSeg(endpoint, own, kSource));
  poll_until(&came_back, 1);
  CHECK_EQ(last_status, EBADSEGOFF);
  CHECK_EQ(last_opcode, AM_REQUEST_XFER_M);
  CHECK_EQ(last.get, 1);
  CHECK_EQ(last.handler, kGot);
  CHECK_EQ(last.dest_offset, 3);
  CHECK_EQ(last.nbytes, 2);
  CHECK_EQ(last.destination, rank());
  barrier();
}

// Those that had no credit yet are refused when their turn comes, once each, and nothing stays in
// the way.
static void so_does_what_was_queued(void) {
  static unsigned char own[kSource + kArea];
  int refused = 0;
  prepare(own);
  set(endpoint, 0, (AM_handler_fn_t)on_returned);
  set(endpoint, kGot, on_2);
  set(endpoint, kCounted, on_counted);
  came_back = counted = 0;
  for (int i = 0; i < 40; ++i) {
    CHECK_OK(AM_GetXfer2(endpoint, rank(), 0, kGot, kSource + 7, 2, 100, 101));
  }
  CHECK_OK(AM_GetXfer0(endpoint, rank(), 0, kCounted, 0, 100));
  CHECK_OK(AM_SetSeg(endpoint, own, kSource));
  while (came_back + refused < 40) {
    const int code = AM_Poll(bundle);
    if (code == AM_OK) continue;
    CHECK_RETURNS(AM_ERR_RESOURCE, code);
    ++refused;
  }
  poll_until(&counted, 1);
  CHECK_EQ(came_back, 16);  // the window of gets
  barrier();
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"of shared memory", of_shared_memory},
      {"of any memory", of_any_memory},
      {"of all memory", of_all_memory},
      {"what is not there comes back", what_is_not_there_comes_back},
      {"is a medium request and a long reply", is_a_medium_request_and_a_long_reply},
      {"what does not fit here is refused", what_does_not_fit_here_is_refused},
      {"many of the own process", many_of_the_own_process},
      {"what has no place any more comes back", what_has_no_place_any_more_comes_back},
      {"so does what was queued", so_does_what_was_queued},
  };
  return RUN_CASES(argc, argv, cases);
}
