// Blocks of numbers go round in C, by zero-copy buffers: every process shows the next one where its
// block lies, and that one copies it from there to where it wants it, until all have seen all. No
// message carries a block.
//
//   ./run -n 4 pass_blocks
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "am/c/am2.h"
#include "am/c/spmd.h"
#include "am/c/zero_copy.h"

enum { kShow = 1, kNumbers = 100000 };

static AM_buffer_info_t shown;  // by the process before this one
static int shows = 0;

static void check(int code) {
  if (code == AM_OK) return;
  fprintf(stderr, "%s\n", AM_ErrorSentence());
  AMX_SPMDExit(1);
}

// An info is plain bytes: it travels in any message.
static void on_show(void* token, void* info, int nbytes) {
  (void)token;
  memcpy(&shown, info, (size_t)nbytes);
  ++shows;
}

// Both ends hear when the bytes have moved: here they are, and there they may be replaced.
static void on_moved(const AM_transfer_t* done, void* count) {
  (void)done;
  ++*(int*)count;
}

int main(int argc, char** argv) {
  eb_t bundle;
  ep_t endpoint;
  AM_zero_copy_t zero;
  AM_buffer_t source, destination;
  AM_buffer_info_t mine;
  int taken = 0, given = 0;
  check(AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint));
  const int me = AMX_SPMDMyProc(), procs = AMX_SPMDNumProcs();
  check(AM_SetHandler(endpoint, kShow, on_show));
  check(AM_ZeroCopyStart(bundle, 0, &zero));

  uint64_t* block = malloc(kNumbers * sizeof(uint64_t));
  uint64_t* next = malloc(kNumbers * sizeof(uint64_t));
  uint64_t sum = 0;
  for (int i = 0; i < kNumbers; ++i) block[i] = (uint64_t)(me + i);
  check(AM_BufferCreate(zero, block, kNumbers * sizeof(uint64_t), on_moved, &taken, AM_BUFFER_UNREG,
                        &source));
  check(AM_BufferCreate(zero, next, kNumbers * sizeof(uint64_t), on_moved, &given, AM_BUFFER_UNREG,
                        &destination));
  check(AM_BufferInfo(source, &mine));
  AMX_SPMDBarrier();  // all have their handlers

  // One info is good for all rounds, as the buffer stays where it is.
  check(AM_RequestI0(endpoint, (me + 1) % procs, kShow, &mine, sizeof mine));
  while (shows == 0) AM_Poll(bundle);
  for (int round = 1; round <= procs; ++round) {
    check(AM_BufferGet(destination, shown));
    while (given < round || taken < round) check(AM_Poll(bundle));
    for (int i = 0; i < kNumbers; ++i) sum += next[i];
    memcpy(block, next, kNumbers * sizeof(uint64_t));
    AMX_SPMDBarrier();  // before anybody takes the next one
  }
  printf("process %d has seen all blocks: %" PRIu64 "\n", me, sum);

  AMX_SPMDBarrier();  // nobody ends its buffers while another may use them
  check(AM_BufferFree(source));
  check(AM_BufferFree(destination));
  check(AM_ZeroCopyEnd(zero));
  free(block);
  free(next);
  AMX_SPMDBarrier();
  AMX_SPMDExit(0);
}
