// Medium payloads that are written where they are sent from, so that the sender makes no copy of
// its own: an extension, after GASNet-EX's negotiated payload. Included by am2.h, which has the
// rules.
//
//   void* block;
//   if (AMX_PrepareMedium(endpoint, to, AM_MaxMedium(), &block) == AM_OK) {
//     size_t nbytes = encode(block);
//     AMX_CommitMedium(block, nbytes, handler, 1, &argument);
//   }
//
// Where the memory is: near, in the receiver's mailbox; far, over libfabric, in the frame that is
// sent; else in memory of the library, from which the commit sends as AM_RequestI() does (am/core/
// prepared.h lists where: over datagrams, in an AM_PAR bundle, and to this process).
#ifndef SPLITPHASE_AM_C_PREPARED_H
#define SPLITPHASE_AM_C_PREPARED_H

#include "am/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Stores where the payload of a medium request to `index` goes: `nbytes` bytes, 0 to
// AM_MaxMedium(), aligned to 8, whose contents are not defined at first. The memory belongs to the
// calling thread until it commits or drops it; meanwhile that thread makes no other call into the
// library, and does not wait for a thread that does. Each thread has one at a time.
//
// The first waits for credit and runs handlers meanwhile, as AM_RequestI(); the second never waits
// and runs none. AM_ERR_NOT_SENT, of the second: it would have to wait; AM_Poll() and try again.
// AM_ERR_BAD_ARG: `index` is not bound, `nbytes` is too large, a null pointer. AM_ERR_IN_USE: in a
// handler, or this thread has prepared a payload already. AM_ERR_RESOURCE: as of AM_RequestI().
int AMX_PrepareMedium(ep_t endpoint, int index, size_t nbytes, void** payload);
int AMX_TryPrepareMedium(ep_t endpoint, int index, size_t nbytes, void** payload);

// Sends the first `nbytes` bytes of what this thread has prepared, to `handler`, with `numargs`
// arguments, 0 to AM_MaxShort(), as AM_RequestI(). Never waits, unless the payload is in memory of
// the library. Costs no copy, else that one. AM_ERR_BAD_ARG: `payload` is not what this thread has
// prepared, more bytes than that, or as of AM_RequestI(): the payload is still prepared then,
// unless the endpoint was freed meanwhile. AM_ERR_RESOURCE: the library was called in between, so
// that nothing was sent; the payload is gone.
int AMX_CommitMedium(void* payload, size_t nbytes, handler_t handler, int numargs,
                     const int32_t* args);
// Gives it back instead; nothing is sent. AM_ERR_BAD_ARG: it is not what this thread has prepared.
int AMX_DropMedium(void* payload);

// For a reply, in the handler of a request, with its token: the memory is valid until the handler
// returns or has replied, and need not be used; a handler may prepare it anew, for other `nbytes`.
// Never wait. On a node they cost no copy; to another node the payload is copied into a packet when
// the handler returns. Codes as of AM_ReplyI(); AM_ERR_BAD_ARG also where more than AM_MaxMedium()
// bytes are to be prepared, and where nothing or fewer bytes were prepared than are to be sent: the
// payload is still prepared then.
int AMX_PrepareReplyMedium(void* token, size_t nbytes, void** payload);
int AMX_CommitReplyMedium(void* token, size_t nbytes, handler_t handler, int numargs,
                          const int32_t* args);

#ifdef __cplusplus
}
#endif

#endif
