// Persistent put channels in C, after CkDirect (Bohm, Chakravorty, Jetley, Bhatele, Kale, 2009),
// whose order of arguments they have. For C11 to C23, and C++.
//
// A channel is set up once between a buffer of one process and a buffer of another. After that a
// put is one copy on a node, or one RMA write between nodes, and a callback at the receiver: no
// message, no handler, no credit, and no synchronisation but what the program has anyway.
//
//   receiver                                            sender
//   AM_ChannelCreate(bundle, ghost, nbytes, on_ghost, &step, &in, &handle);
//   ... handle travels in any message ...               AM_ChannelAssocLocal(bundle, handle, edge,
//                                                                            nbytes, &out);
//                                                       AM_ChannelPut(out);
//   while (!arrived) AM_Poll(bundle);                   // on_ghost(&step) has run
//   use(ghost);
//   AM_ChannelReady(in);                                ... once it knows of that:
//   AM_ChannelPut(out);
//
// The rule: a put comes after the receiver's AM_ChannelReady() for the put before. The program
// guarantees it by what it does anyway: a barrier, a message, a put in the other direction.
// docs/channels.md says what happens if it is broken, and what each step costs. There is no
// out-of-band value: any bytes may be put.
//
// A channel belongs to a bundle, which is of AM_SEQ; several bundles may have channels. Every call
// returns AM_OK or a code, as am2.h says, and has had no effect then. Besides the codes that hold
// for all:
//
//   AM_ERR_BAD_ARG    a buffer, a size or a handle is wrong
//   AM_ERR_IN_USE     in a handler or callback, but of AM_ChannelPut(), the three ready calls,
//                     AM_ChannelFreeReceiver() and what only looks
//   AM_ERR_RESOURCE   the bundle is AM_PAR; too many channels, or bundles with channels; the rule
//                     was broken, as far as a checked build sees it at the call
//
// Thread rule: the bundle's. No call waits but AM_ChannelFreeSender().
#ifndef SPLITPHASE_AM_C_CHANNEL_H
#define SPLITPHASE_AM_C_CHANNEL_H

#include "am/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The two ends of a channel. Valid until freed, at the latest by AM_FreeBundle().
typedef struct AM_Receiver* AM_receiver_t;
typedef struct AM_Sender* AM_sender_t;

// What the sender needs to know of a channel: 64 plain bytes, to be sent in any message (they fit
// 16 arguments). Valid until the receiver's end is freed.
typedef struct {
  uint64_t opaque[8];
} AM_channel_t;

// --- The receiver's end (CkDirect_createHandle)

// Makes it, for puts of `nbytes` bytes, which may be 0, into `buffer`: part of the process's
// segment (AM_GetProcessSegment), which stays the caller's, and stays where it is. `callback(data)`
// runs in AM_Poll(), and in calls that wait, once for each put, with the bytes in place; it may not
// wait nor send requests that would. What may be sent to others is stored at `channel`. The channel
// is ready: the first put may come.
//
// AM_ERR_BAD_ARG: the buffer is not in that segment; `callback` is NULL. AM_ERR_RESOURCE: 65,536
// channels are open. Communicates nothing.
int AM_ChannelCreate(eb_t bundle, void* buffer, size_t nbytes, void (*callback)(void* data),
                     void* data, AM_receiver_t* receiver, AM_channel_t* channel);

// The buffer is no longer in use: the next put may come, and is reported (CkDirect_ready). Both of
// the following. Sends nothing: the program lets the sender know. Also inside the callback.
int AM_ChannelReady(AM_receiver_t receiver);
// The buffer is no longer in use: a put may come, and is remembered (CkDirect_readyMark).
int AM_ChannelReadyMark(AM_receiver_t receiver);
// From now on puts are reported; one that has arrived since AM_ChannelReadyMark() by the next poll
// (CkDirect_readyPollQ).
int AM_ChannelReadyPollQ(AM_receiver_t receiver);

// Stores 1 at `in_use` if the callback has been called and a ready call has not, else 0.
int AM_ChannelInUse(AM_receiver_t receiver, int* in_use);

// Ends it, after its last put has been reported: no callback from here on, and the handle is stale.
// Also inside the callback.
int AM_ChannelFreeReceiver(AM_receiver_t receiver);

// --- The sender's end (CkDirect_assocLocalBuffer, CkDirect_put)

// Makes it: puts on `channel` send the `nbytes` bytes at `buffer`, any memory of this process,
// which stays the caller's, and stays as long as the sender. Several senders may send the same
// buffer. One sender at a time for each channel.
//
// AM_ERR_BAD_ARG: another number of bytes than the receiver's. AM_ERR_RESOURCE: the bytes are no
// handle; its channel has been closed, as far as that is known here. Communicates nothing.
int AM_ChannelAssocLocal(eb_t bundle, AM_channel_t channel, const void* buffer, size_t nbytes,
                         AM_sender_t* sender);
// Another buffer from now on. AM_ERR_RESOURCE: a put has not left the one before.
int AM_ChannelSetBuffer(AM_sender_t sender, const void* buffer, size_t nbytes);
// A second buffer: puts send one and the other in turn, the first one next, so that one may be
// filled while the other is in flight. AM_ChannelSetBuffer() ends that.
int AM_ChannelAlternate(AM_sender_t sender, const void* buffer, size_t nbytes);

// Sends the buffer, which is left unchanged until AM_ChannelReusable() says 1. Never waits: what
// the network has no room for is sent by later polls. Also in handlers and callbacks.
// AM_ERR_RESOURCE, in checked builds, on one node: the receiver is not ready.
int AM_ChannelPut(AM_sender_t sender);

// Stores 1 at `reusable` if the buffers of all puts so far may be written again, else 0. It says
// nothing of the receiver, and does not poll. Always 1 on one node.
int AM_ChannelReusable(AM_sender_t sender, int* reusable);

// Ends it. Waits, polling, until all puts have left.
int AM_ChannelFreeSender(AM_sender_t sender);

// --- What has gone wrong on the channels of this process, by other processes' or its own fault, as
// far as it could be seen. Checked builds fail instead: of the call where they can, else AM_Poll()
// does.
typedef struct {
  uint64_t early;        // puts that arrived while the buffer was in use
  uint64_t lost;         // times that several puts arrived and one was reported
  uint64_t stale;        // puts on a channel that was closed
  uint64_t ready_twice;  // AM_ChannelReady() of a channel that was ready
} AM_channel_stats_t;
int AM_GetChannelStatistics(eb_t bundle, AM_channel_stats_t* statistics);

#ifdef __cplusplus
}
#endif

#endif
