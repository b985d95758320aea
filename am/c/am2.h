// Active Messages II in C: the Berkeley interface, and its manual. For C11 to C23, and for C++.
//
// A message names a handler, a function that runs when the message arrives and takes its arguments.
// Requests go to an index of an endpoint's translation table; the handler of a request may reply,
// once, to the endpoint that sent it. Messages are handled inside AM_Poll() and inside the calls
// that wait, in the thread that makes them.
//
//   #include <stdio.h>
//   #include "am/c/am2.h"
//   #include "am/c/spmd.h"
//
//   static int answer = 0;
//   static void on_pong(void* token, int32_t n) { (void)token; answer = n; }
//   static void on_ping(void* token, int32_t n) { AM_Reply1(token, 2, n + 1); }
//
//   int main(int argc, char** argv) {
//     eb_t bundle;
//     ep_t endpoint;
//     if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) {
//       fprintf(stderr, "%s\n", AM_ErrorSentence());
//       return 1;
//     }
//     AM_SetHandler(endpoint, 1, on_ping);
//     AM_SetHandler(endpoint, 2, on_pong);
//     AMX_SPMDBarrier();                             // everybody has its handlers
//     int next = (AMX_SPMDMyProc() + 1) % AMX_SPMDNumProcs();
//     AM_Request1(endpoint, next, 1, 41);            // index r is the endpoint of process r
//     while (answer == 0) AM_Poll(bundle);
//     printf("process %d was answered %d\n", AMX_SPMDMyProc(), answer);
//     AMX_SPMDBarrier();
//     AMX_SPMDExit(0);
//   }
//
//   gcc ping.c -o ping $(pkg-config --cflags --libs splitphase-am2)  and  splitcrun -n 4 ./ping
//
// What is where:
//
//   types, constants, error codes                          am/c/types.h
//   begin, bundles, endpoints, tables, poll and wait       this file
//   requests, replies, gets; what a handler may ask        am/c/messages.h
//   a descriptor for event loops of the program            am/c/event_loop.h
//   statistics                                             am/c/statistics.h
//   start-up, barrier, exit of a job of processes          am/c/spmd.h
//   put channels; zero-copy buffers: beyond AM-II          am/c/channel.h, am/c/zero_copy.h
//
// Every call returns AM_OK or one of the codes of am/c/types.h, and has had no effect then.
// AM_ErrorSentence() says what was wrong. These codes hold for all of them and are not repeated:
//
//   AM_ERR_NOT_INIT   AM_Init() was not called before; not of AM_Max...(), which may be
//   AM_ERR_BAD_ARG    a handle or pointer is NULL, or a handle is none that is in use
//   AM_ERR_IN_USE     in a handler: the call is not one that a handler may make
//   AM_ERR_RESOURCE   in a child that this process has forked, which may make no call
//
// Handlers run one at a time, never inside one another, and never inside the reply or the request
// that sends their message. They may reply (to a request), read tables and tags, and call AM_Init
// and any AM_Terminate but the last. They may not send requests, poll, wait, or make, free or move
// endpoints and bundles: these calls return AM_ERR_IN_USE there.
//
// Threads. A bundle and its endpoints are used by one thread at a time (AM_SEQ), or by any at the
// same time (AM_PAR): handlers of different senders then run at the same time, in all threads that
// poll; AM_SetTag(), AM_SetSeg(), AM_SetHandler() and its sisters wait until no handler of the
// endpoint runs, and are AM_ERR_IN_USE or AM_ERR_RESOURCE in a handler. Different bundles may be
// used by different threads at once. AM_Init(), AM_Terminate() and AM_AllocateBundle(): any thread.
// AM_AllocateEndpoint(): that of the bundle.
//
// Processes of other nodes are reached by the same calls. docs/active-messages.md has the rules;
// docs/languages.md has the choices made where Berkeley's implementations differ, and the names
// that do.
//
// Mainwaring and Culler: Active Message Applications Programming Interface and Communication
// Subsystem Organization, UCB//CSD-96-918; statistics and the SPMD layer follow AMUDP and AMMPI.
#ifndef SPLITPHASE_AM_C_AM2_H
#define SPLITPHASE_AM_C_AM2_H

#include "am/c/event_loop.h"
#include "am/c/messages.h"
#include "am/c/prepared.h"
#include "am/c/statistics.h"
#include "am/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- Begin and end.

// Begins to use the library. The first call of a process joins the job that the environment
// describes (splitcrun, another launcher, or none: a job of one process), and so waits until all of
// its processes have called it; later ones count. AM_ERR_RESOURCE: the job cannot be joined; the
// sentence says why. Any thread.
int AM_Init(void);

// Takes back one AM_Init(). The last one frees all bundles, as AM_FreeBundle() does, and may wait
// as that does; AM_Init() may be called again afterwards. The process stays in its job until it
// ends: exit(0) and the end of main() wait until all processes have come to theirs, so that no
// message is lost; an exit with another code ends the job. AM_ERR_IN_USE: the last one, in a
// handler.
int AM_Terminate(void);

// What the calling thread's last call that failed has to say: one sentence with the process, the
// call, the value, the cause and the remedy. "" before the first. Valid until the thread's next
// call that fails. Also before AM_Init().
const char* AM_ErrorSentence(void);

// The name of a code of this library, such as "AM_ERR_BAD_ARG"; and of the status of a returned
// message, such as "EBADTAG". Static strings.
const char* AM_ErrorName(int code);
const char* AM_StatusName(int status);

// Whether every error but AM_ERR_NOT_SENT is also printed to stderr, when it happens; returns what
// was set before. At first it is what SPLITC_VERBOSE says. Any thread.
int AM_SetVerboseErrors(int verbose);

// --- Bundles: endpoints that are polled and waited for together.

// Makes a bundle. AM_ERR_BAD_ARG: `type` is none; AM_ERR_RESOURCE: 1024 bundles exist. AM_PAR in a
// job that spans nodes: the first waits until calls of other threads that run handlers have
// returned.
int AM_AllocateBundle(AM_type_t type, eb_t* bundle);

// Frees a bundle and its endpoints, these as AM_FreeEndpoint() does.
int AM_FreeBundle(eb_t bundle);

// --- Endpoints.

// Makes an endpoint: its tag is AM_NONE, its segment is empty, its tables are empty; it has 256
// translations, or one for each process if there are more. Stores its name. AM_ERR_RESOURCE: there
// are 4096, or no memory.
int AM_AllocateEndpoint(eb_t bundle, ep_t* endpoint, en_t* name);

// Frees an endpoint. What it has sent is still delivered, what is sent to it comes back as
// EBADENDPOINT. Waits, and runs handlers, only while messages to this process itself are queued for
// want of credit.
int AM_FreeEndpoint(ep_t endpoint);

// Moves an endpoint between bundles, with its messages and tables. The caller has the use of both.
// AM_ERR_BAD_ARG: it is not in `from`.
int AM_MoveEndpoint(ep_t endpoint, eb_t from, eb_t to);

// The name that AM_AllocateEndpoint() gave, and the bundle that it is in.
int AM_GetEndpointName(ep_t endpoint, en_t* name);
int AM_GetEndpointBundle(ep_t endpoint, eb_t* bundle);
// 1 if the two name the same endpoint, else 0: what AM_GetSourceEndpoint() gives for a message from
// another node need not have the bytes that AM_AllocateEndpoint() gave there. An extension.
int AM_SameEndpoint(en_t one, en_t other);

// Says to how many endpoints this one will send, and how many requests to each shall be in flight
// at once. May be called any number of times, or never: windows are always 64 short (to another
// node 1024), 16 medium (64) and 16 long requests to each, and cost nothing before their use, so
// the second number is not used; the table of translations grows to the first. AM_ERR_BAD_ARG: a
// number below 1. AM_ERR_RESOURCE: more endpoints than AM_MaxNumTranslations().
int AM_SetExpectedResources(ep_t endpoint, int endpoints, int outstanding);

// Whether requests and gets of this endpoint to its own process are handled inside the call that
// sends them, as AMUDP does (1), or by later polls, as at first (0). With 1 such a call polls the
// bundle, so that the handler there has run when it returns, and that of its reply, if there was
// credit, the endpoint there is in the same bundle, and others do not send without pause. Other
// messages are handled as well, and what a handler throws comes out of the call, though the message
// was sent. A call in a callback does not poll. Each message of this endpoint then costs some 20 ns
// more; those of others cost nothing more. The bundle's thread, in an AM_PAR one while no other
// uses the endpoint. An extension.
int AMX_SetLoopback(ep_t endpoint, int at_once);

// The tag that messages to this endpoint must have. From the next poll on, others are returned to
// their senders as EBADTAG.
int AM_SetTag(ep_t endpoint, tag_t tag);
int AM_GetTag(ep_t endpoint, tag_t* tag);

// --- The segment: memory that XFER messages of others address by offset.

// Sets it to `nbytes` from `address`, which stay the caller's and may not be freed while others
// write; 0 bytes: none. A message that was admitted before may still arrive where it was. With NULL
// and (uintptr_t)-1 bytes all memory is open, and offsets are addresses; bytes for addresses from
// 2^63 on, where no process has memory, come back as EBADSEGOFF. AM_ERR_BAD_ARG: NULL with another
// number of bytes, or an end beyond the last address.
int AM_SetSeg(ep_t endpoint, void* address, uintptr_t nbytes);
int AM_GetSeg(ep_t endpoint, void** address, uintptr_t* nbytes);
// The largest that AM_SetSeg() takes: (uintptr_t)-1, all memory.
int AM_MaxSegLength(uintptr_t* nbytes);
// Memory of this process that others of its node map, SPLITC_SEGMENT bytes (256 MiB), which this
// interface uses for nothing else: payloads are written there in place, by the processes that send
// them. Valid until the process ends. An extension.
int AM_GetProcessSegment(void** address, uintptr_t* nbytes);

// --- Translations: to which endpoint an index leads. AM_ERR_BAD_ARG: the table has no such index,
// or the name was not made in this job.

// Binds `index`. AM_ERR_IN_USE: it is bound. Whether the endpoint exists, and takes the tag, shows
// when a message is sent.
int AM_Map(ep_t endpoint, int index, en_t name, tag_t tag);
// Binds the lowest free index, and stores which it is. AM_ERR_RESOURCE: there is none.
int AM_MapAny(ep_t endpoint, int* index, en_t name, tag_t tag);
// Unbinds it. Waits, running handlers, until what was sent there has been handled or has come back.
// AM_ERR_RESOURCE: it is not bound.
int AM_Unmap(ep_t endpoint, int index);
// Gives messages to it another tag: as AM_Unmap() and AM_Map(), with what these say.
int AM_SetTranslationTag(ep_t endpoint, int index, tag_t tag);
// What it is bound to. AM_ERR_RESOURCE: nothing.
int AM_GetTranslationName(ep_t endpoint, int index, en_t* name);
int AM_GetTranslationTag(ep_t endpoint, int index, tag_t* tag);
// AM_OK if it is bound, AM_ERR_RESOURCE if not.
int AM_GetTranslationInuse(ep_t endpoint, int index);

// The size of the table, at most AM_MaxNumTranslations(). Setting it: AM_ERR_BAD_ARG below 1,
// AM_ERR_RESOURCE above the most, AM_ERR_IN_USE if an index beyond the end is bound.
int AM_SetNumTranslations(ep_t endpoint, int count);
int AM_GetNumTranslations(ep_t endpoint, int* count);
int AM_MaxNumTranslations(int* count);

// --- Handlers: which function an index names. All processes set the same ones at the same indices;
// a message for an index that is empty at its receiver comes back as EBADHANDLER.

// Sets the function at `index`, 0 to AM_GetNumHandlers() - 1. AM_ERR_IN_USE: there is one already
// (AM_ReplaceHandler). At 0: the handler of returned messages, without which such a message is
// printed and the job ends.
int AM_SetHandler(ep_t endpoint, handler_t index, AM_handler_fn_t function);
// Sets a handler at the lowest free index from 1 on, which it stores. AM_ERR_RESOURCE: there is
// none.
int AM_SetHandlerAny(ep_t endpoint, handler_t* index, AM_handler_fn_t function);
// Sets a handler whether there is one at that index or not. An extension.
int AM_ReplaceHandler(ep_t endpoint, handler_t index, AM_handler_fn_t function);
// What is set there. AM_ERR_RESOURCE: nothing. An extension.
int AM_GetHandler(ep_t endpoint, handler_t index, AM_handler_fn_t* function);

// C23 has no functions without a type of parameters: there these convert the handler.
#if defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L
#define AM_SetHandler(endpoint, index, function) \
  (AM_SetHandler)((endpoint), (index), (AM_handler_fn_t)(function))
#define AM_SetHandlerAny(endpoint, index, function) \
  (AM_SetHandlerAny)((endpoint), (index), (AM_handler_fn_t)(function))
#define AM_ReplaceHandler(endpoint, index, function) \
  (AM_ReplaceHandler)((endpoint), (index), (AM_handler_fn_t)(function))
#endif

// Has `before` called ahead of each handler of `endpoint` but that of index 0, and `after` behind
// it, also when it throws: for debuggers and checks of runtimes (AMUDP_SetHandlerCallbacks). NULL:
// none. They run in the thread of the handler and may only ask about `token`, which is valid in
// `before`. `buffer` and `nbytes` are those of the handler, NULL and 0 of a short message; `args`
// may not be written. Without callbacks a message costs what it did before they were set.
//
// AM_ERR_IN_USE: in a handler. Waits, for an endpoint of an AM_PAR bundle, until no handler of it
// runs.
typedef void (*AMX_preHandlerCallback_t)(AMX_category_t category, int is_request, int handler,
                                         void* token, void* buffer, size_t nbytes, int numargs,
                                         uint32_t* args);
typedef void (*AMX_postHandlerCallback_t)(AMX_category_t category, int is_request);
int AMX_SetHandlerCallbacks(ep_t endpoint, AMX_preHandlerCallback_t before,
                            AMX_postHandlerCallback_t after);

// The size of the table: 256 at first, which is also the most. Setting it: AM_ERR_BAD_ARG below 1,
// AM_ERR_RESOURCE above the most, AM_ERR_IN_USE if an index beyond the end is set.
int AM_SetNumHandlers(ep_t endpoint, int count);
int AM_GetNumHandlers(ep_t endpoint, int* count);
int AM_MaxNumHandlers(int* count);

// --- Progress.

// Runs the handlers of what has arrived, a bounded number, and never waits.
int AM_Poll(eb_t bundle);

// Which events AM_Wait() waits for: AM_NOEVENTS, AM_NOTEMPTY, or AM_NOTEMPTY | AM_ONESHOT.
// AM_ERR_BAD_ARG: other bits.
int AM_SetEventMask(eb_t bundle, int mask);
int AM_GetEventMask(eb_t bundle, int* mask);

// Sleeps, without spinning and without running handlers, until one of the masked events has come,
// or at once if it is there: AM_Poll() afterwards. The mask stays, but for AM_ONESHOT.
// AM_ERR_BAD_ARG: the mask is AM_NOEVENTS, so it would never return.
int AM_Wait(eb_t bundle);

// Spellings of Berkeley's AMUDP, whose AM_WaitSema() polls when it wakes.
#define AM_UnMap AM_Unmap
static inline int AM_WaitSema(eb_t bundle) {
  const int code = AM_Wait(bundle);
  return code == AM_OK ? AM_Poll(bundle) : code;
}

#ifdef __cplusplus
}
#endif

#endif
