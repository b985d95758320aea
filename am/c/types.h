// The types, constants and codes of Active Messages II, for C11 and C++. Included by am2.h.
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
#define AM_NONE ((tag_t)0)
#define AM_ALL (~(tag_t)0)

// A place in a handler table, 0 to 255. 0 is the handler of returned messages.
typedef int handler_t;

// A handler, of one of these types; which one follows from how its message was sent:
//
//   void on_short(void* token, int32_t a0, ...)
//   void on_medium(void* token, void* buffer, int nbytes, int32_t a0, ...)
//   void on_long(void* token, void* address, int nbytes, int32_t a0, ...)
//   void on_returned(int status, op_t opcode, void* argblock)           (index 0)
//
// with 0 to 16 arguments, as many as its message has. AM-II keeps no note of a handler's type: one
// that is called with another number of arguments, or as one of another kind, has undefined
// behaviour, as any call through a wrong pointer has. In C++ cast to AM_handler_fn_t.
typedef void (*AM_handler_fn_t)();  // NOLINT(modernize-redundant-void-arg)

// Access modes of a bundle.
typedef int AM_type_t;
enum {
  AM_SEQ,  // one thread at a time inside the bundle and its endpoints: its user sees to that
  AM_PAR   // any threads, at the same time
};

// Events that AM_Wait() waits for: bits.
#define AM_NOEVENTS 0  // none: a bundle's first mask
#define AM_NOTEMPTY 1  // an endpoint of the bundle has a message that was not handled yet
#define AM_ONESHOT 2   // beside AM_NOTEMPTY: the mask is AM_NOEVENTS again after the wait

// --- What calls return.
enum {
  AM_OK = 0,
  AM_ERR_NOT_INIT = 1,  // before AM_Init() or after the last AM_Terminate()
  AM_ERR_BAD_ARG = 2,   // an argument is wrong: a handle, an index, a size, a null pointer
  AM_ERR_RESOURCE = 3,  // it cannot be done: no memory, no place, no such entry, no launcher
  AM_ERR_NOT_SENT = 4,  // an Async call would have to wait: AM_Poll() and try again
  AM_ERR_IN_USE = 5     // the place is taken; or a handler runs, inside which this is not allowed
};

// Why a message came back: `status` of handler 0.
enum {
  EBADARGS = 1,        // the handler there takes other arguments (only typed ones of C++ do)
  EBADENTRY = 2,       // no such translation; here the request call itself says AM_ERR_BAD_ARG
  EBADTAG = 3,         // the endpoint there has another tag
  EBADHANDLER = 4,     // no handler there has that index
  EBADSEGOFF = 5,      // the payload would begin outside the segment there
  EBADLENGTH = 6,      // ... or end outside it
  EBADENDPOINT = 7,    // there is no such endpoint any more
  ECONGESTION = 8,     // there was no memory for its payload, or for the answer to a get
  EUNREACHABLE = 9,    // its process has died, and may have handled it
  EREPLYREJECTED = 10  // a reply that the requester does not take
};

// What came back: `opcode` of handler 0.
typedef enum {
  AM_REQUEST_M = 1,
  AM_REQUEST_IM = 2,
  AM_REQUEST_XFER_M = 3,
  AM_REPLY_M = 4,
  AM_REPLY_IM = 5,
  AM_REPLY_XFER_M = 6
} op_t;

// What `argblock` of handler 0 points to, and everything in it: valid until that handler returns.
//
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
