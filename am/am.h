#pragma once

// Active Messages II for C++20: the umbrella header, and the manual in one page.
//
// A message names a handler, a function that runs when the message arrives and takes its arguments.
// Requests go to an index of an endpoint's translation table; a request handler may answer once, to
// the sender; everything makes progress inside poll(), wait_until() and requests that wait.
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
// With am::OneWay for am::Request nothing comes back. docs/active-messages.md has the rules.

#include "am/channel/channel.h"
#include "am/channel/multicast.h"
#include "am/channel/reduce_channel.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/job/job.h"
#include "am/message/stats.h"
#include "am/types/types.h"
#include "am/zero_copy/zero_copy.h"
