// The types, constants and codes of Active Messages II, for C11 to C23 and C++. Included by am2.h.
// The constants are macros with plain numbers, as programs of Berkeley's implementations test them
// with #if and #ifdef.
#ifndef SPLITPHASE_AM_C_TYPES_H
#define SPLITPHASE_AM_C_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// --- Objects. A handle is valid from the call that gives it until the one that frees it. Handles
// may be compared and copied; what they point to is the library's. Passing NULL, a pointer that is
// no handle, or one of an object that was freed is AM_ERR_BAD_ARG. (A handle whose place another
// object has taken meanwhile names that one.)

// An endpoint, and its name in the specification's drafts.
typedef struct AM_Endpoint* ep_t;
typedef ep_t ea_t;
// A bundle.
typedef struct AM_Bundle* eb_t;

// The name of an endpoint: plain bytes without pointers, which may be sent by any means to the
// processes of this job that are to map it. Valid while the endpoint lives.
typedef struct {
  uint64_t opaque[4];
} en_t;

// The key of an endpoint: it takes only messages that were sent with its own tag. Two are special,
// on the receiver's side: AM_NONE, which a new endpoint has, takes nothing; AM_ALL takes all.
typedef uint64_t tag_t;
#define AM_NONE 0
#define AM_ALL UINT64_MAX

// A place in a handler table, 0 to 255. 0 is the handler of returned messages.
typedef int handler_t;

// A handler, of one of these types; which one follows from how its message was sent:
//
//   void on_short(void* token, int32_t a0, ...)
//   void on_medium(void* token, void* buffer, int nbytes, int32_t a0, ...)
//   void on_long(void* token, void* address, int nbytes, int32_t a0, ...)
//   void on_returned(int status, op_t opcode, void* argblock)           (index 0)
//
// with 0 to 16 arguments, as many as its message has; `nbytes` may be declared as size_t, too,
// which AMUDP has there. AM-II keeps no note of a handler's type: one that is called with another
// number of arguments, or as one of another kind, has undefined behaviour, as any call through a
// wrong pointer has. In C any of them can be passed where this type is asked for; in C++ cast to
// it.
typedef void (*AM_handler_fn_t)();  // NOLINT(modernize-redundant-void-arg)

// Access modes of a bundle.
typedef int AM_type_t;
#define AM_SEQ 0  // one thread at a time inside the bundle and its endpoints: its user sees to that
#define AM_PAR 1  // any threads, at the same time

// Categories of messages: M, IM and XFER, without payload, with a buffer and to a segment.
typedef int AMX_category_t;
#define AM_SHORT 0
#define AM_MEDIUM 1
#define AM_LONG 2
#define AM_NUM_CATEGORIES 3

// Events that AM_Wait() waits for: bits.
#define AM_NOEVENTS 0  // none: a bundle's first mask
#define AM_NOTEMPTY 1  // an endpoint of the bundle has a message that was not handled yet
#define AM_ONESHOT 2   // beside AM_NOTEMPTY: the mask is AM_NOEVENTS again after the wait

// --- What calls return.
#define AM_OK 0
#define AM_ERR_NOT_INIT 1  // before AM_Init() or after the last AM_Terminate()
#define AM_ERR_BAD_ARG 2   // an argument is wrong: a handle, an index, a size, a null pointer
#define AM_ERR_RESOURCE 3  // it cannot be done: no memory, no place, no such entry, no launcher
#define AM_ERR_NOT_SENT 4  // an Async call would have to wait: AM_Poll() and try again
#define AM_ERR_IN_USE 5  // the place is taken; or a handler runs, inside which this is not allowed

// Why a message came back: `status` of handler 0.
#define EBADARGS 1      // the handler there takes other arguments (only typed ones of C++ do)
#define EBADENTRY 2     // not produced: the request call itself says AM_ERR_BAD_ARG
#define EBADTAG 3       // the endpoint there has another tag
#define EBADHANDLER 4   // no handler there has that index
#define EBADSEGOFF 5    // the payload would begin outside the segment there
#define EBADLENGTH 6    // ... or end outside it
#define EBADENDPOINT 7  // there is no such endpoint any more
#define ECONGESTION 8   // there was no memory for its payload, or for the answer to a get
#define EUNREACHABLE 9  // its process has died, and may have handled it
#define EREPLYREJECTED \
  10  // not produced: a reply that the requester refuses comes back to who has
      // replied with the reason itself, and an opcode AM_REPLY_...

// What came back: `opcode` of handler 0.
typedef int op_t;
#define AM_REQUEST_M 1
#define AM_REQUEST_IM 2
#define AM_REQUEST_XFER_M 3
#define AM_REPLY_M 4
#define AM_REPLY_IM 5
#define AM_REPLY_XFER_M 6

// What `argblock` of handler 0 points to, and everything in it: valid until that handler returns.
typedef struct {
  ep_t endpoint;          // of this process: that had sent it
  int destination;        // the process it was sent to
  handler_t handler;      // that it was for, there
  int numargs;            // 0 to 16
  const int32_t* args;    // as many
  const void* buffer;     // the payload of an IM message; NULL: it was none, or was empty
  size_t nbytes;          // of the payload of an IM or XFER message
  uintptr_t dest_offset;  // where an XFER message was to go; its payload does not come back
  int get;  // 1: a get, as AM_REQUEST_XFER_M: its own handler, and dest_offset is source_offset
} AM_returned_t;

#ifdef __cplusplus
}
#endif

#endif
