// Zero-copy buffers in C, after Charm++'s Zero Copy Direct API, whose order of arguments they have,
// and requests whose payloads are not copied, after its Entry Method and Post APIs.
// For C11 to C23, and C++.
//
// A buffer is memory of one process that can be an end of transfers, again and again. Its info, 40
// plain bytes, travels in any message. A process that has the info copies bytes from the buffer
// (get) or to it (put), directly from memory to memory where possible. At each end a callback says
// that the transfer is complete.
//
//   static void on_taken(const AM_transfer_t* done, void* data) { ++*(int*)data; }
//
//   AM_ZeroCopyStart(bundle, 64 << 20, &zero);                          // collective
//   AM_BufferCreate(zero, memory, nbytes, on_taken, &taken, AM_BUFFER_UNREG, &mine);
//   AM_BufferInfo(mine, &info);
//   ... info travels in any message ...
//   AM_BufferGet(mine, theirs);                                         // or AM_BufferPut()
//
// What the program guarantees: memory stays where it is from a transfer's start until the callback
// at that end; what is written is not read meanwhile, and what is read is not changed. That holds
// for both ends: to give an info to a process that may use it is a promise. No order is kept
// between transfers, nor between a transfer and a message. docs/zero_copy.md has the rules, what
// each transfer costs, and the place of each of Charm++'s calls.
//
// Every call returns AM_OK or a code, as am2.h says, and has had no effect then. Besides the codes
// that hold for all:
//
//   AM_ERR_BAD_ARG    an argument is wrong: a handle, a mode, a size, a null pointer
//   AM_ERR_IN_USE     in a handler or callback: AM_ZeroCopyStart(), AM_ZeroCopyEnd(),
//                     AM_ZeroCopyWait()
//   AM_ERR_RESOURCE   it cannot be done: the bundle is AM_PAR; no memory; a transfer is in flight
//                     here; the info names a buffer that has ended. What another process finds
//                     wrong comes out of AM_Poll() so
//
// Thread rule: that of the bundle, which is AM_SEQ. No call waits but those three and
// AM_FreeBundle(), which ends what is left in it.
#ifndef SPLITPHASE_AM_C_ZERO_COPY_H
#define SPLITPHASE_AM_C_ZERO_COPY_H

#include "am/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the buffers of a bundle have in common; and a buffer. Valid until ended.
typedef struct AM_ZeroCopy* AM_zero_copy_t;
typedef struct AM_Buffer* AM_buffer_t;

// Names a buffer of some process, for those processes that made their AM_zero_copy_t together:
// plain bytes, which fit 10 arguments of a message. Valid until that buffer is initialised anew or
// ends; later use is AM_ERR_RESOURCE.
typedef struct {
  uint64_t opaque[5];
} AM_buffer_info_t;

// When the memory of a buffer is registered with the network. On one node, and where the network
// has no RMA, all but the last do the same.
#define AM_BUFFER_UNREG 0   // for each transfer that needs it: the memory may be freed in between
#define AM_BUFFER_REG 1     // from the beginning on, until AM_BufferDeregister() or its end
#define AM_BUFFER_PREREG 2  // it is already: memory of AM_ZeroCopyAlloc()
#define AM_BUFFER_NOREG 3   // never: the buffer has an info only, and a transfer is AM_ERR_RESOURCE

// One end of a transfer, which is complete at this end.
typedef struct {
  void* address;       // of the buffer of this process
  size_t nbytes;       // that were moved; the rest of a larger destination is untouched
  int peer;            // the process at the other end
  int is_source;       // 1: this end was read and may be written again; 0: it was written
  uint64_t reference;  // as AM_BufferSetReference() said at the start
} AM_transfer_t;

// Called once for each transfer at each end, in AM_Poll() and calls that wait, outside handlers,
// and never inside the call that starts the transfer. It may not wait, nor send requests that
// would; it may start transfers, and initialise and free buffers. `done` is valid until it returns.
typedef void (*AM_transfer_callback_t)(const AM_transfer_t* done, void* data);

// --- Begin and end

// Makes one for a bundle, with a pool of `pool_bytes` for AM_ZeroCopyAlloc(), of which only what is
// touched is memory; 0: none. Collective: waits until all processes of the job have called it, and
// runs no handlers meanwhile.
int AM_ZeroCopyStart(eb_t bundle, size_t pool_bytes, AM_zero_copy_t* zero);
// Ends it, when no other process uses its buffers any more: after a barrier. AM_ERR_RESOURCE: it
// has buffers still.
int AM_ZeroCopyEnd(AM_zero_copy_t zero);
// Waits, running handlers and callbacks, until every transfer that was started here is complete
// here.
int AM_ZeroCopyWait(AM_zero_copy_t zero);

// Memory of the pool (CkRdmaAlloc): `nbytes` bytes that processes of this node map, aligned to 64
// bytes; valid until AM_ZeroCopyRelease(). Any part of it can be a buffer. AM_ERR_RESOURCE: no such
// room is left.
int AM_ZeroCopyAlloc(AM_zero_copy_t zero, size_t nbytes, void** memory);
// Gives it back (CkRdmaFree). AM_ERR_RESOURCE: nothing that was given begins there; a buffer still
// lies in it.
int AM_ZeroCopyRelease(AM_zero_copy_t zero, void* memory);

// --- Buffers (CkNcpyBuffer)

// Makes one of the `nbytes` bytes at `memory`, any of this process, which stays the caller's.
// `callback` runs with `data` at the end of each transfer; NULL: it is ignored
// (CkCallback::ignore). AM_ERR_RESOURCE: AM_BUFFER_PREREG, and the memory is not in one block of
// the pool; too much would be pinned; there are 2^20 buffers.
int AM_BufferCreate(AM_zero_copy_t zero, void* memory, size_t nbytes,
                    AM_transfer_callback_t callback, void* data, int mode, AM_buffer_t* buffer);
// Other memory, callback and mode for the same buffer (init); every info made before is stale from
// now on. AM_ERR_RESOURCE: also while a transfer is in flight here. It is then what it was.
int AM_BufferInit(AM_buffer_t buffer, void* memory, size_t nbytes, AM_transfer_callback_t callback,
                  void* data, int mode);
// Ends it, and makes every info stale. Transfers in flight finish, so the memory stays until then;
// their callbacks are not called at this end.
int AM_BufferFree(AM_buffer_t buffer);

// What other processes name it by.
int AM_BufferInfo(AM_buffer_t buffer, AM_buffer_info_t* info);
// The number that callbacks at this end get for transfers started from here on
// (CkCallback::setRefNum). 0 at first.
int AM_BufferSetReference(AM_buffer_t buffer, uint64_t reference);

// Starts copying all of `source` to the beginning of this buffer, and returns (dst.get(src)).
// AM_ERR_BAD_ARG: `source` is larger. AM_ERR_RESOURCE: an end is AM_BUFFER_NOREG or deregistered;
// `source` has ended, as far as that is known here. Also in handlers and callbacks.
int AM_BufferGet(AM_buffer_t buffer, AM_buffer_info_t source);
// Starts copying all of this buffer to the beginning of `destination` (src.put(dst)); likewise.
int AM_BufferPut(AM_buffer_t buffer, AM_buffer_info_t destination);

// Ends the registration that AM_BUFFER_REG and AM_BUFFER_PREREG have made, as pinned memory is
// limited (deregisterMem): until AM_BufferRegister() transfers are refused at both ends. Of an
// AM_BUFFER_UNREG one: AM_BufferRegister() registers the memory as AM_BUFFER_REG does, and
// AM_BufferDeregister() ends that. The first is AM_ERR_RESOURCE while a transfer is in flight here.
int AM_BufferDeregister(AM_buffer_t buffer);
int AM_BufferRegister(AM_buffer_t buffer);

// Stores how many transfers are in flight that this process knows of: whose callbacks have not run
// here yet.
int AM_BufferInFlight(AM_buffer_t buffer, int* transfers);

// --- Requests whose payloads are not copied (CkSendBuffer, nocopypost)
//
// A process announces payloads, any memory of its own. A handler at the receiver says where they
// go, at once or by a tag; then they are moved as those of buffers are.
//
//   static void on_block(AM_zero_copy_request_t request, int numargs, const int32_t* args,
//                        void* data) {
//     AM_memory_t where = {room, sizeof room};
//     AM_ZeroCopyReceive(request, &where, 1, on_there, NULL, 0);
//   }
//   AM_ZeroCopyAddHandler(zero, on_block, NULL, &handler);            // in every process
//   AM_ZeroCopyRequest(zero, &to, 1, &block, 1, on_left, NULL, handler, 0, NULL);

// Some memory of this process. As a payload it is read only.
typedef struct {
  void* address;
  size_t nbytes;
} AM_memory_t;

// A request that has arrived. Valid in its handler; later it is AM_ERR_BAD_ARG.
typedef struct AM_ZeroCopyRequestState* AM_zero_copy_request_t;
// Runs as handlers of messages do, in AM_Poll(), and may neither poll nor wait. A request for which
// it calls neither AM_ZeroCopyReceive() nor AM_ZeroCopyMatch() is dropped: the sender's callback
// gets 0 bytes.
typedef void (*AM_zero_copy_handler_t)(AM_zero_copy_request_t request, int numargs,
                                       const int32_t* args, void* data);

// Adds a function that takes requests, and stores its number: 0, 1, ... Every process adds the same
// ones, in the same order, before a request can arrive. AM_ERR_RESOURCE: 255 have been added.
int AM_ZeroCopyAddHandler(AM_zero_copy_t zero, AM_zero_copy_handler_t function, void* data,
                          int* handler);

// Sends `npayloads` payloads, 0 to 128 of any sizes, with `numargs` arguments, 0 to 8, to the
// handler with that number in each of the `nprocesses` processes at `to`, and returns. The lists
// are copied. The payloads stay, unchanged, until `done` runs here, once, when all processes have
// taken what they want: with the sum of the bytes, of each payload the least that one of them took.
// AM_ERR_BAD_ARG: no such process or handler, too many of something. AM_ERR_RESOURCE: too many are
// in flight. Also in handlers and callbacks.
int AM_ZeroCopyRequest(AM_zero_copy_t zero, const int* to, int nprocesses,
                       const AM_memory_t* payloads, int npayloads, AM_transfer_callback_t done,
                       void* data, int handler, int numargs, const int32_t* args);

// In the handler: who has sent it, and the sizes of its payloads, of which there is one at least.
// Stores those that `sizes` has room for, which may be none, and always how many there are.
int AM_ZeroCopyRequestSource(AM_zero_copy_request_t request, int* process);
int AM_ZeroCopyRequestSizes(AM_zero_copy_request_t request, size_t* sizes, int room,
                            int* npayloads);

// In the handler: payload i goes to the beginning of memory[i], as much as fits; those for which
// there is no memory are dropped. With `count` 1 all go there, one behind the other. The memory is
// left alone until `done` runs, once, with the bytes of all and `reference`.
//
// AM_ERR_IN_USE: the request has its memory already. AM_ERR_RESOURCE: memory at either end cannot
// be reached; such payloads are dropped, and the callbacks of both ends run without their bytes.
int AM_ZeroCopyReceive(AM_zero_copy_request_t request, const AM_memory_t* memory, int count,
                       AM_transfer_callback_t done, void* data, uint64_t reference);
// In the handler: all go to the memory that AM_ZeroCopyPost() gives for `tag`, before this call or
// after it (CkMatchBuffer). AM_ERR_IN_USE: the request has its memory already. AM_ERR_RESOURCE: a
// request waits under this tag already; or as of AM_ZeroCopyReceive().
int AM_ZeroCopyMatch(AM_zero_copy_request_t request, uint64_t tag);
// The memory for the request that is matched with `tag`, as of AM_ZeroCopyReceive(); also outside
// handlers (CkPostBuffer). The tag is free again when a request has matched. AM_ERR_RESOURCE: there
// is memory under this tag already; or as of AM_ZeroCopyReceive().
int AM_ZeroCopyPost(AM_zero_copy_t zero, uint64_t tag, void* memory, size_t nbytes,
                    AM_transfer_callback_t done, void* data, uint64_t reference);

#ifdef __cplusplus
}
#endif

#endif
