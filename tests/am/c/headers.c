// The public headers, each of which has to compile first and twice, in strict C11 and C++20: this
// file is compiled as both (BUILD).
#include "am/c/event_loop.h"
//
#include "am/c/statistics.h"
//
#include "am/c/spmd.h"
//
#include "am/c/numbered.h"
//
#include "am/c/messages.h"
//
#include "am/c/types.h"
//
#include "am/c/am2.h"
//
#include "am/c/am2.h"

// Something of each.
int uses_the_headers(ep_t endpoint, AM_stats_t* statistics);
int uses_the_headers(ep_t endpoint, AM_stats_t* statistics) {
  return AM_Request2(endpoint, 0, 1, 2, 3) + AM_GetXfer0(endpoint, 0, 0, 1, 0, 0) +
         AM_GetEndpointStatistics(endpoint, statistics) + AMX_SPMDMyProc() + AM_MaxShort() +
         AM_Init() + (AM_ALL == AM_NONE);
}
