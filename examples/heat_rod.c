// Heat along a rod in C, by put channels: each process has a part of the cells and puts the ones at
// its ends into its neighbours' memory, where a callback says that they are there. No message is
// sent, and no barrier is passed while it computes. Process 0 compares the end with what it
// computes alone.
//
//   ./run -n 4 heat_rod
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "am/c/am2.h"
#include "am/c/channel.h"
#include "am/c/spmd.h"

enum { kCells = 10, kSteps = 200, kHot = 1000000 };  // a process's cells; millionths of a degree
enum { kLeft, kRight, kSides };

// What lies in the segment, which others write: in even and odd steps another ghost cell at each
// end. So a neighbour that is a step ahead never overwrites what is still to be read: it gets so
// far only when it has this process's cell of the step between, put after ready().
typedef struct {
  int64_t ghosts[2][kSides];
} Shared;

static eb_t bundle;
static Shared* shared;
static AM_receiver_t in[2][kSides];
static AM_sender_t out[2][kSides];
static int arrived[2][kSides];
static int64_t edges[2][kSides];

static void check(int code) {
  if (code == AM_OK) return;
  fprintf(stderr, "%s\n", AM_ErrorSentence());
  AMX_SPMDExit(1);
}

static void on_ghost(void* count) { ++*(int*)count; }

// The ends of the rod have one neighbour.
static int neighbour(int side) {
  const int process = AMX_SPMDMyProc() + (side == kLeft ? -1 : 1);
  return process < AMX_SPMDNumProcs() ? process : -1;
}

// Ties this process's edges to the ghost cells of its neighbours, once: each handle travels to the
// process that puts.
static void tie(void) {
  AM_channel_t mine[2][kSides];
  AM_channel_t(*all)[2][kSides] = calloc((size_t)AMX_SPMDNumProcs(), sizeof mine);
  memset(mine, 0, sizeof mine);
  for (int parity = 0; parity < 2; ++parity)
    for (int side = 0; side < kSides; ++side) {
      if (neighbour(side) < 0) continue;
      check(AM_ChannelCreate(bundle, &shared->ghosts[parity][side], sizeof(int64_t), on_ghost,
                             &arrived[parity][side], &in[parity][side], &mine[parity][side]));
    }
  check(AMX_SPMDAllGather(mine, all, sizeof mine));
  for (int parity = 0; parity < 2; ++parity)
    for (int side = 0; side < kSides; ++side) {
      const int to = neighbour(side);
      if (to < 0) continue;
      check(AM_ChannelAssocLocal(bundle, all[to][parity][side == kLeft ? kRight : kLeft],
                                 &edges[parity][side], sizeof(int64_t), &out[parity][side]));
    }
  free(all);
}

// cells[0] and cells[count + 1] are the ghosts.
static void spread(int64_t* next, const int64_t* cells, int count) {
  for (int i = 1; i <= count; ++i)
    next[i] = cells[i] + (cells[i - 1] - 2 * cells[i] + cells[i + 1]) / 4;
}

// Puts this process's cell at one end, once the last put has left its buffer.
static void put(int side, int parity, int64_t cell) {
  int reusable = 0;
  while (check(AM_ChannelReusable(out[parity][side], &reusable)), !reusable) check(AM_Poll(bundle));
  edges[parity][side] = cell;
  check(AM_ChannelPut(out[parity][side]));
}

// The two ghosts for this step. A rod loses nothing at its ends.
static void exchange(int64_t* cells, int step) {
  const int parity = step % 2;
  if (neighbour(kLeft) >= 0) put(kLeft, parity, cells[1]);
  if (neighbour(kRight) >= 0) put(kRight, parity, cells[kCells]);
  for (int side = 0; side < kSides; ++side) {
    int64_t* const ghost = side == kLeft ? &cells[0] : &cells[kCells + 1];
    if (neighbour(side) < 0) {
      *ghost = side == kLeft ? cells[1] : cells[kCells];
      continue;
    }
    while (arrived[parity][side] == step / 2) check(AM_Poll(bundle));
    *ghost = shared->ghosts[parity][side];
    check(AM_ChannelReady(in[parity][side]));
  }
}

// What one process computes of a whole rod.
static int is_right(const int64_t* rod, int count) {
  int64_t* cells = calloc((size_t)count + 2, sizeof(int64_t));
  int64_t* next = calloc((size_t)count + 2, sizeof(int64_t));
  cells[1] = kHot;
  for (int step = 0; step < kSteps; ++step) {
    cells[0] = cells[1];
    cells[count + 1] = cells[count];
    spread(next, cells, count);
    int64_t* const before = cells;
    cells = next;
    next = before;
  }
  const int same = memcmp(rod, cells + 1, (size_t)count * sizeof(int64_t)) == 0;
  free(cells);
  free(next);
  return same;
}

int main(int argc, char** argv) {
  ep_t endpoint;
  void* segment;
  uintptr_t bytes;
  check(AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint));
  check(AM_GetProcessSegment(&segment, &bytes));
  shared = segment;
  const int me = AMX_SPMDMyProc(), procs = AMX_SPMDNumProcs();
  tie();
  AMX_SPMDBarrier();  // all have their receivers

  int64_t* cells = calloc(kCells + 2, sizeof(int64_t));
  int64_t* next = calloc(kCells + 2, sizeof(int64_t));
  if (me == 0) cells[1] = kHot;
  for (int step = 0; step < kSteps; ++step) {
    exchange(cells, step);
    spread(next, cells, kCells);
    int64_t* const before = cells;
    cells = next;
    next = before;
  }

  int64_t* rod = malloc((size_t)procs * kCells * sizeof(int64_t));
  check(AMX_SPMDAllGather(cells + 1, rod, kCells * sizeof(int64_t)));
  if (me == 0) {
    const int same = is_right(rod, procs * kCells);
    printf("%d cells, %d steps: %s\n", procs * kCells, kSteps,
           same ? "as one process computes them" : "WRONG");
    if (!same) AMX_SPMDExit(1);
  }
  free(rod);
  AMX_SPMDBarrier();  // nobody puts any more
  AMX_SPMDExit(0);
}
