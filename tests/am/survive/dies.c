// A process dies in a handler, and a program in C goes on: each request to the dead has been
// answered or comes back to handler 0, once, and collective calls are refused.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kShort = 7, kMedium = 8, kAnswer = 9, kRequests = 400, kVictim = 1, kHandled = 5 };

static int ends[kRequests];  // of each request
static int ended, handled;
static int senders;  // of the victim, a bit each

static void on_returned(int status, op_t opcode, void* argblock) {
  const AM_returned_t* block = (const AM_returned_t*)argblock;
  CHECK_EQ(status, EUNREACHABLE);
  CHECK_EQ(block->destination, kVictim);
  CHECK_EQ(block->numargs, 2);
  CHECK_EQ(block->handler, block->args[0] % 2 == 0 ? kShort : kMedium);
  CHECK_EQ(opcode, block->args[0] % 2 == 0 ? AM_REQUEST_M : AM_REQUEST_IM);
  if (opcode == AM_REQUEST_IM) CHECK(memcmp(block->buffer, "payload", 8) == 0);
  ++ends[block->args[0]];
  ++ended;
}

static void on_answer(void* token, int32_t number) {
  (void)token;
  ++ends[number];
  ++ended;
}
// Not before all others have passed the barrier.
static void on_short(void* token, int32_t number, int32_t sender) {
  senders |= 1 << sender;
  if (++handled >= kHandled && senders == (1 << procs()) - 1 - (1 << kVictim)) {
    kill(getpid(), SIGKILL);
  }
  CHECK_OK(AM_Reply1(token, kAnswer, number));
}
static void on_medium(void* token, void* buffer, int nbytes, int32_t number, int32_t sender) {
  (void)buffer;
  CHECK_EQ(nbytes, 8);
  on_short(token, number, sender);
}

int main(int argc, char** argv) {
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) return 1;
  set(endpoint, 0, (AM_handler_fn_t)on_returned);
  set(endpoint, kShort, on_short);
  set(endpoint, kMedium, on_medium);
  set(endpoint, kAnswer, on_answer);
  barrier();
  for (int i = 0; rank() == kVictim; i = 0) poll_until(&i, 1);  // until it dies
  for (int i = 0; i < kRequests; ++i) {
    if (i % 2 == 0) {
      CHECK_OK(AM_Request2(endpoint, kVictim, kShort, i, rank()));
    } else {
      CHECK_OK(AM_RequestI2(endpoint, kVictim, kMedium, "payload", 8, i, rank()));
    }
  }
  poll_until(&ended, kRequests);
  for (int i = 0; i < kRequests; ++i) CHECK_EQ(ends[i], 1);
  CHECK_RETURNS(AM_ERR_RESOURCE, AMX_SPMDBarrier());
  CHECK(strstr(AM_ErrorSentence(), "rank 1 has died") != NULL);
  int32_t mine = rank();
  int32_t all[8];
  CHECK_RETURNS(AM_ERR_RESOURCE, AMX_SPMDAllGather(&mine, all, sizeof mine));
  CHECK(strstr(AM_ErrorSentence(), "rank 1 has died") != NULL);
  CHECK_OK(AM_Unmap(endpoint, kVictim));
  printf("rank %d is well\n", rank());
  return 0;
}
