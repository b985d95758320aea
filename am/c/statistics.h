// What an endpoint has sent and received, as Berkeley's implementations count it beyond AM-II.
// Included by am2.h.
#ifndef SPLITPHASE_AM_C_STATISTICS_H
#define SPLITPHASE_AM_C_STATISTICS_H

#include <stdio.h>

#include "am/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Numbers of messages since the endpoint was made; arrays by category (AM_SHORT, AM_MEDIUM,
// AM_LONG). Empty replies of the library are not counted, nor are the messages by which it waits
// and ends. A get is a medium request and a long reply, whose bytes are not counted. (Latencies and
// retransmissions, which AMUDP also has, are not here: two clock readings a message would cost as
// much as it, and what is sent again, over datagrams that may be lost, is the link's matter and not
// an endpoint's.)
typedef struct {
  uint64_t RequestsSent[AM_NUM_CATEGORIES];
  uint64_t RequestsReceived[AM_NUM_CATEGORIES];  // and handled
  uint64_t RepliesSent[AM_NUM_CATEGORIES];
  uint64_t RepliesReceived[AM_NUM_CATEGORIES];
  uint64_t ReturnedMessages;                         // own ones that came back
  uint64_t RejectedMessages;                         // of others, sent back to them
  uint64_t CreditStalls;                             // requests that had to wait for credit
  uint64_t RequestDataBytesSent[AM_NUM_CATEGORIES];  // arguments and payload
  uint64_t ReplyDataBytesSent[AM_NUM_CATEGORIES];
} AM_stats_t;

// All zero: what nothing has been sent by.
extern const AM_stats_t AM_initial_stats;

// Those of `endpoint`. The bundle's thread.
int AM_GetEndpointStatistics(ep_t endpoint, AM_stats_t* statistics);
// Counts anew from here.
int AM_ResetEndpointStatistics(ep_t endpoint);
// Adds `more` to `sum`, such as those of another endpoint or process.
int AM_AggregateStatistics(AM_stats_t* sum, const AM_stats_t* more);
// Prints them as a table for people, some lines long.
int AM_DumpStatistics(FILE* file, const AM_stats_t* statistics);

#ifdef __cplusplus
}
#endif

#endif
