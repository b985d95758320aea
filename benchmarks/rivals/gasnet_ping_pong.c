// Between two processes of one node by GASNet-EX: a short request with 8 bytes of arguments and a
// reply with as many, there and back; and a blocking read of 8 bytes of the other's segment. Prints
// a line for each, `am` or `get` and the least of REPS (2000) repetitions of 100, in ns. Each
// process runs on a processor of its own, as those of the other libraries do.
//
// It is compiled with what `pkg-config --cflags --libs gasnet-smp-seq` says, and started by
// GASNET_PSHM_NODES=2 ./gasnet_ping_pong [REPS]

#include <gasnetex.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kTimes = 100, kSegmentBytes = 1 << 20 };

static volatile int arrived;
static volatile uint64_t word;  // volatile: each value that was read is used

static void on_request(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high);
static void on_reply(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high);
static gex_AM_Entry_t handlers[] = {
    {0, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 2, NULL, "request"},
    {0, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 2, NULL, "reply"}};

static void on_request(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  gex_AM_ReplyShort2(token, handlers[1].gex_index, 0, low, high);
}

static void on_reply(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  (void)token, (void)low, (void)high;
  ++arrived;
}

static void request_and_reply(gex_TM_t team) {
  const int before = arrived;
  gex_AM_RequestShort2(team, 1, handlers[0].gex_index, 0, 1, 2);
  GASNET_BLOCKUNTIL(arrived != before);
}

static void run_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * now.tv_sec + now.tv_nsec;
}

static void wait_for_all(gex_TM_t team) { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); }

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &endpoint, &team, "ping_pong", &argc, &argv, 0) != GASNET_OK ||
      gex_Segment_Attach(&segment, team, kSegmentBytes) != GASNET_OK ||
      gex_EP_RegisterHandlers(endpoint, handlers, 2) != GASNET_OK)
    return 1;
  const int rank = (int)gex_TM_QueryRank(team), reps = argc > 1 ? atoi(argv[1]) : 2000;
  if (gex_TM_QuerySize(team) != 2 || reps < 1) {
    fprintf(stderr, "gasnet_ping_pong: needs 2 processes and 1 repetition or more\n");
    gasnet_exit(2);
  }
  run_on(rank);
  void* words;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &words, NULL, NULL, 0));
  wait_for_all(team);
  if (rank == 0) {
    double least_am = 1e300, least_get = 1e300;
    for (int rep = 0; rep < reps; ++rep) {
      double begin = now_ns();
      for (int i = 0; i < kTimes; ++i) request_and_reply(team);
      const double am = now_ns() - begin;
      begin = now_ns();
      for (int i = 0; i < kTimes; ++i) word = gex_RMA_GetBlockingVal(team, 1, words, 8, 0);
      const double get = now_ns() - begin;
      if (am < least_am) least_am = am;
      if (get < least_get) least_get = get;
    }
    printf("am %.2f\nget %.2f\n", least_am / kTimes, least_get / kTimes);
    fflush(stdout);
  }
  wait_for_all(team);  // the second process answers while it waits here
  gasnet_exit(0);
}
