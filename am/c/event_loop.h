// Active Messages II in event loops of the program, an extension: a descriptor to sleep on, for C11
// and C++. Included by am2.h.
#ifndef SPLITPHASE_AM_C_EVENT_LOOP_H
#define SPLITPHASE_AM_C_EVENT_LOOP_H

#include "am/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Stores a descriptor that becomes readable when AM_Poll(bundle) has something to do, once
// AMX_Arm() has said so. The bundle's: made by the first call, closed by AM_FreeBundle(), not to be
// read; for epoll, poll(2) and their like, as a level. Of an AM_SEQ bundle, by its thread.
//
//   int code;
//   while ((code = AMX_Arm(bundle)) == AM_ERR_NOT_SENT) AM_Poll(bundle);
//   if (code == AM_OK) epoll_wait(...);
//   AM_Poll(bundle);
//
// AM_ERR_RESOURCE: the bundle is AM_PAR, or the process may have no more descriptors.
int AMX_GetEventFd(eb_t bundle, int* fd);

// The last call into the library before each sleep on that descriptor; never waits. AM_OK: it
// becomes readable when something comes, and stays so until the next AMX_Arm(). (It may be readable
// for nothing, too.) AM_ERR_NOT_SENT: something is there, so AM_Poll() and try again.
// AM_ERR_IN_USE: in a handler. AM_ERR_RESOURCE: as above. (UCX's ucp_worker_arm.)
int AMX_Arm(eb_t bundle);

#ifdef __cplusplus
}
#endif

#endif
