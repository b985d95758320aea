#pragma once

// Active Messages II for C++20: the umbrella header, and the manual in one page.
//
// A message names a handler, a function that runs when the message arrives and takes its arguments.
// Requests go to an index of an endpoint's translation table; a request handler may reply once, to
// the sender. Messages are delivered, and everything else makes progress, inside poll() and every
// call that waits: requests without credit, wait_until(), barrier(), flush().
//
//   void on_pong(am::Reply, std::uint64_t n) { answer = n; }
//   void on_ping(am::Request r, std::uint64_t n) { std::move(r).reply<&on_pong>(n + 1); }
//
//   am::Job job;                                 // who am I, how many are we, how are all reached
//   am::Bundle bundle(job);                      // endpoints polled together
//   am::Endpoint endpoint(bundle);
//   endpoint.add_handlers<&on_ping, &on_pong>();
//   job.connect(endpoint);                       // index r is now the endpoint of rank r
//   endpoint.request<&on_ping>(1, 41ull);
//   bundle.wait_until([] { return answer == 42; });
//   job.finish(bundle);
//
// short    request<&f>(to, args...)                  f(am::Request, args...)
// medium   request_medium<&f>(to, bytes, args...)    f(am::Request, span<const byte>, args...)
// long     request_long<&f>(to, offset, bytes, ...)  f(am::Request, span<byte>, args...)
//
// With am::OneWay for am::Request nothing comes back.
//
// job        Job: rank, size, connect, barrier, quiesce, finish        am/job/job.h
// progress   Bundle: poll, wait, wait_until, flush                     am/core/bundle.h
// messages   Endpoint: map, add_handlers, request, on_returned         am/core/endpoint.h
//            Request, OneWay, Reply: what a handler gets               am/core/token.h
//            UntypedMessage: ... by index and words                    am/core/untyped.h
// every step ReceiveChannel, SendChannel, and to or from many          am/channel/channel.h
// buffers    ZeroCopy, ZeroCopyBuffer: get and put by reference        am/zero_copy/zero_copy.h
//
// These rules hold for every class; a header mentions only what differs from them.
//
// Threads. A bundle, its endpoints, channels and buffers are used by one thread at a time, which
// runs their handlers and callbacks; a parallel bundle (Access::kParallel) and its endpoints by any
// threads. Different bundles of a process may be used by different threads at the same time.
//
// Handlers run inside calls that poll, one at a time, never inside one another, and never inside
// the request that sends the message. They may reply and compute; they may not request, poll or
// wait. Callbacks (of channels, buffers and pollers) run there too, and may also put and use the
// try_ calls. What a handler or callback throws comes out of the call that polled.
//
// Delivery. Each message is delivered exactly once, or returned to its sender with the reason. No
// order is kept between messages, even of one pair.
//
// Errors. A call that cannot be done throws Error, with a sentence. "No room now" is no error: it
// is a [[nodiscard]] bool. The checked build (docs/running.md) checks every rule at every call.
//
// Routes. "Near" is a process of the same node, reached through memory that both map; "far" one of
// another node, reached through libfabric. The calls are the same.
//
// Lifetime. A Job outlives its bundles, a bundle its endpoints, channels and pollers.
//
// Active Messages: von Eicken, Culler, Goldstein, Schauser, ISCA '92. Active Messages II:
// Mainwaring and Culler, Active Message Applications Programming Interface and Communication
// Subsystem Organization, UCB//CSD-96-918. docs/active-messages.md has the rules, and where this
// library chooses among those of AM-II's implementations.

// In C, with Berkeley's names: am/c/am2.h.

#include "am/types/language.h"
#if SPLITPHASE_LANGUAGE

#include "am/channel/channel.h"
#include "am/channel/multicast.h"
#include "am/channel/reduce_channel.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/core/untyped.h"
#include "am/job/job.h"
#include "am/message/returned.h"
#include "am/message/stats.h"
#include "am/types/types.h"
#include "am/zero_copy/zero_copy.h"

#endif
