// Requests, replies and gets of Active Messages II in C. Included by am2.h, which has the rules.
//
// For each family below, M is the number of arguments, 0 to 16, which follow at the end:
//
//   AM_RequestM(endpoint, index, handler, ...)
//   AM_RequestIM(endpoint, index, handler, source, nbytes, ...)
//   AM_RequestXferM(endpoint, index, dest_offset, handler, source, nbytes, ...)
//   AM_RequestXferAsyncM(the same)
//   AM_ReplyM(token, handler, ...)
//   AM_ReplyIM(token, handler, source, nbytes, ...)
//   AM_ReplyXferM(token, dest_offset, handler, source, nbytes, ...)
//   AM_GetXferM(endpoint, index, source_offset, handler, dest_offset, nbytes, ...)
//   AM_GetXferAsyncM(the same)
//
// such as AM_Request2(endpoint, 3, 7, a, b). With the M left out they take the number of arguments
// and then these, as AMUDP has it: AM_Request(endpoint, 3, 7, 2, a, b), each argument an int; with
// VA these in a va_list; and with Args a number and an array: AM_RequestArgs(endpoint, 3, 7, 2,
// array).
#ifndef SPLITPHASE_AM_C_MESSAGES_H
#define SPLITPHASE_AM_C_MESSAGES_H

#include <stdarg.h>

#include "am/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Most arguments of a message; most bytes of an IM message; most bytes of an XFER message. (AM-II
// requires 8, 512 and 8192 at least.) The last is what programs may allocate, and add offsets to;
// messages of up to 2^31 - 1 bytes, the most that a handler's `nbytes` can say, are sent, too.
#define AM_MaxShort() 16
#define AM_MaxMedium() 4096
#define AM_MaxLong() 67108864

// --- Requests, to `handler` of the endpoint that `index` is bound to. Arguments and payload may be
// reused on return. AM_OK says that the message was sent, and not that it was received: what cannot
// be delivered comes back to handler 0 of `endpoint`.
//
// They wait for credit (64 short, to another node 1024, 16 medium, there 64, 16 long requests to
// each endpoint may be in flight) and run handlers meanwhile, of all bundles of the thread. A
// message to an endpoint of this process never waits and runs no handler (but with
// AMX_SetLoopback()): it is delivered by a later poll, and queued in memory where there is no
// credit. AM_ERR_BAD_ARG: `index` is not bound, `handler` is not 1 to 255, more than 16 arguments,
// too many bytes, or a null pointer to some. AM_ERR_IN_USE: in a handler. AM_ERR_RESOURCE: the
// endpoint there has no room for another sender, or a handler that ran meanwhile has thrown.
//
// Cost: short, on a node, one cache line there and one back.

// AM_RequestM: arguments alone.
int AM_RequestArgs(ep_t endpoint, int index, handler_t handler, int numargs, const int32_t* args);
// AM_RequestIM: also 0 to AM_MaxMedium() bytes, copied before return; the handler there gets a
// pointer into the library's memory, valid until it returns.
int AM_RequestIArgs(ep_t endpoint, int index, handler_t handler, const void* source, size_t nbytes,
                    int numargs, const int32_t* args);
// AM_RequestXferM: also 0 to AM_MaxLong() bytes, or more, which are written at `dest_offset` of the
// segment there before the handler runs, which gets a pointer to them. Those that do not fit come
// back as EBADSEGOFF or EBADLENGTH, with nothing written.
int AM_RequestXferArgs(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                       const void* source, size_t nbytes, int numargs, const int32_t* args);
// AM_RequestXferAsyncM: the same without waiting, polling or queueing. AM_ERR_NOT_SENT: it would
// have to wait; AM_Poll() and try again. The payload, too, may be reused on return (AM-II says: not
// before the reply).
int AM_RequestXferAsyncArgs(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                            const void* source, size_t nbytes, int numargs, const int32_t* args);

// --- Replies, in the handler of a request, with its token: at most one, to `handler` of the
// endpoint that sent the request. They never wait, run no handler, and arguments and payload may be
// reused on return. A handler that does not reply has the library send an empty reply, which runs
// nothing. AM_ERR_BAD_ARG: no token of the handler that runs, or one of a reply; else as for
// requests. AM_ERR_IN_USE: the handler has replied already.
int AM_ReplyArgs(void* token, handler_t handler, int numargs, const int32_t* args);
int AM_ReplyIArgs(void* token, handler_t handler, const void* source, size_t nbytes, int numargs,
                  const int32_t* args);
int AM_ReplyXferArgs(void* token, uintptr_t dest_offset, handler_t handler, const void* source,
                     size_t nbytes, int numargs, const int32_t* args);

// --- Gets: `nbytes` from `source_offset` of the segment of the endpoint that `index` is bound to
// are read into `dest_offset` of the own segment, and then `handler` runs here, as that of an XFER
// reply: with a token that cannot be replied to, the address and the arguments. No handler runs
// there. Wait, and return codes, as requests; also AM_ERR_BAD_ARG where the bytes do not fit the
// own segment, or the handler is not set. What the own endpoint refuses when it comes, as its
// segment or tag is another one then, comes back to handler 0 here; from
// another node to handler 0 there, as a reply.
int AM_GetXferArgs(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                   uintptr_t dest_offset, size_t nbytes, int numargs, const int32_t* args);
int AM_GetXferAsyncArgs(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                        uintptr_t dest_offset, size_t nbytes, int numargs, const int32_t* args);

// --- The same with the arguments in the call, as many ints as `numargs` says.
int AM_Request(ep_t endpoint, int index, handler_t handler, int numargs, ...);
int AM_RequestI(ep_t endpoint, int index, handler_t handler, const void* source, size_t nbytes,
                int numargs, ...);
int AM_RequestXfer(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                   const void* source, size_t nbytes, int numargs, ...);
int AM_RequestXferAsync(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                        const void* source, size_t nbytes, int numargs, ...);
int AM_Reply(void* token, handler_t handler, int numargs, ...);
int AM_ReplyI(void* token, handler_t handler, const void* source, size_t nbytes, int numargs, ...);
int AM_ReplyXfer(void* token, uintptr_t dest_offset, handler_t handler, const void* source,
                 size_t nbytes, int numargs, ...);
int AM_GetXfer(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
               uintptr_t dest_offset, size_t nbytes, int numargs, ...);
int AM_GetXferAsync(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                    uintptr_t dest_offset, size_t nbytes, int numargs, ...);

// --- The same with the arguments in a va_list, which is left as va_arg() leaves it: the caller
// ends it.
int AM_RequestVA(ep_t endpoint, int index, handler_t handler, int numargs, va_list args);
int AM_RequestIVA(ep_t endpoint, int index, handler_t handler, const void* source, size_t nbytes,
                  int numargs, va_list args);
int AM_RequestXferVA(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                     const void* source, size_t nbytes, int numargs, va_list args);
int AM_RequestXferAsyncVA(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                          const void* source, size_t nbytes, int numargs, va_list args);
int AM_ReplyVA(void* token, handler_t handler, int numargs, va_list args);
int AM_ReplyIVA(void* token, handler_t handler, const void* source, size_t nbytes, int numargs,
                va_list args);
int AM_ReplyXferVA(void* token, uintptr_t dest_offset, handler_t handler, const void* source,
                   size_t nbytes, int numargs, va_list args);
int AM_GetXferVA(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                 uintptr_t dest_offset, size_t nbytes, int numargs, va_list args);
int AM_GetXferAsyncVA(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                      uintptr_t dest_offset, size_t nbytes, int numargs, va_list args);

// --- What a handler may ask about its message, with its token. Each takes a few loads, however
// many endpoints and translations there are. AM_ERR_BAD_ARG: that is no token of the handler that
// runs.

// The name of the endpoint that sent it: with it that one can be mapped.
int AM_GetSourceEndpoint(void* token, en_t* name);
// The endpoint of this process that it came to.
int AM_GetDestEndpoint(void* token, ep_t* endpoint);
// The tag that it was sent with. Of a reply: the one that the endpoint has.
int AM_GetMsgTag(void* token, tag_t* tag);
// The process that sent it, 0 to AMX_SPMDNumProcs() - 1 (AMUDP_GetSourceId): after
// AMX_SPMDStartup() also the index of its endpoint.
int AMX_GetSourceId(void* token, int* process);

// All that a token says, but for the names above.
typedef struct {
  int source;               // the process that sent it
  handler_t handler;        // the index of the handler that runs
  AMX_category_t category;  // AM_SHORT, AM_MEDIUM or AM_LONG
  int is_request;           // 1: a request; 0: a reply, or what a get brings
  int may_reply;            // 1: a request that takes a reply and has not had one
  int numargs;              // 0 to 16
} AMX_token_info_t;
// An extension.
int AMX_GetTokenInfo(void* token, AMX_token_info_t* info);

#ifdef __cplusplus
}
#endif

#include "am/c/numbered.h"

#endif
