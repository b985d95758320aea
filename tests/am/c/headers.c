// The public headers, each of which has to compile first and twice, in strict C11, C23 and
// C++20: this file is compiled as each (BUILD).
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
#include "am/c/channel.h"
//
#include "am/c/zero_copy.h"
//
#include "am/c/am2.h"
//
#include "am/c/am2.h"

// In C a handler of any type can be set, also where an empty list of parameters means none.
#ifndef __cplusplus
static void on_short(void* token, int32_t a) {
  (void)token;
  (void)a;
}
static void on_medium(void* token, void* at, size_t nbytes) {
  (void)token;
  (void)at;
  (void)nbytes;
}
static void on_returned(int status, op_t opcode, void* argblock) {
  (void)status;
  (void)opcode;
  (void)argblock;
}
int sets_handlers(ep_t endpoint, handler_t* any);
int sets_handlers(ep_t endpoint, handler_t* any) {
  int (*const set)(ep_t, handler_t, AM_handler_fn_t) = AM_SetHandler;
  return AM_SetHandler(endpoint, 1, on_short) + AM_SetHandlerAny(endpoint, any, on_medium) +
         AM_ReplaceHandler(endpoint, 0, on_returned) + set(endpoint, 2, NULL);
}
#endif

// Something of each.
int uses_the_headers(ep_t endpoint, AM_stats_t* statistics);
int uses_the_headers(ep_t endpoint, AM_stats_t* statistics) {
  return AM_Request2(endpoint, 0, 1, 2, 3) + AM_GetXfer0(endpoint, 0, 0, 1, 0, 0) +
         AM_GetEndpointStatistics(endpoint, statistics) + AMX_SPMDMyProc() + AM_MaxShort() +
         AM_Init() + (AM_ALL == AM_NONE);
}
