#pragma once

#include <cstdint>

#include "am/core/endpoint.h"
#include "am/core/parts.h"
#include "am/core/poller.h"
#include "am/observe/event.h"
#include "am/observe/trace.h"

// What an endpoint writes to a trace (am/observe), of which it is while there is one when it is made.
// Such an endpoint takes no shortcut: Outgoing::direct() finds nothing and every barrier is
// kBarred, so that its requests go through Outgoing::try_send(), and messages to it through
// dispatch.cc. So the fast paths have nothing to test.

namespace am {

// A request that is being sent.
class TracedSend {
 public:
  explicit TracedSend(const EndpointParts& parts) noexcept
      : parts_(parts),
        trace_(parts.admission.traced ? active_trace() : nullptr),
        begin_(trace_ != nullptr ? ticks() : 0) {}
  explicit operator bool() const noexcept { return trace_ != nullptr; }

  // It has been sent, to `peer`.
  void sent(Rank peer, const UntypedRequest& request, TraceFlow flow) noexcept {
    const std::uint64_t end = ticks();
    const TraceKind kind = request.role == Role::kOneWay ? TraceKind::kOneWay : TraceKind::kRequest;
    trace_->record(kind, traced_name(parts_, *trace_, request.handler), begin_, end,
                   {flow, peer, request.payload.size()});
  }

 private:
  const EndpointParts& parts_;
  Trace* const trace_;
  const std::uint64_t begin_;
};

// A handler that runs, also if it throws.
class TracedHandler {
 public:
  explicit TracedHandler(const EndpointParts& parts) noexcept
      : parts_(parts), trace_(parts.admission.traced ? active_trace() : nullptr) {
    // First of all, as what follows takes time, and answers wait for it.
    if (trace_ != nullptr) [[unlikely]]
      begin_ = ticks_after_loads();
  }
  ~TracedHandler() {
    if (!runs_) [[likely]]
      return;
    Trace::forget_poll();
    finish(ticks());
  }
  TracedHandler(const TracedHandler&) = delete;
  TracedHandler& operator=(const TracedHandler&) = delete;
  explicit operator bool() const noexcept { return trace_ != nullptr; }

  // If there is a trace: the message with `flow`, of `peer`, will be given to its handler.
  void begin(Role role, HandlerIndex handler, Rank peer, TraceFlow flow) noexcept {
    kind_ = role == Role::kReply    ? TraceKind::kReplyHandler
            : role == Role::kOneWay ? TraceKind::kOneWayHandler
                                    : TraceKind::kRequestHandler;
    name_ = traced_name(parts_, *trace_, handler);
    details_.flow = flow;
    details_.peer = peer;
    // (The threads of a parallel bundle poll in turns what says when a poll ends.)
    if (parts_.bundle->access() == Access::kSequential) Trace::handler_begins(begin_);
    runs_ = true;
  }
  // It has returned, or, by `status`, it was not called. `reply`: the flow of what it has replied;
  // by default that of a process of this node.
  void end(Status status, const Delivery& delivery) noexcept {
    end(status, delivery, reply_of(details_.flow));
  }
  void end(Status status, const Delivery& delivery, TraceFlow reply) noexcept {
    if (status != Status::kDelivered) {
      runs_ = false;
      return;
    }
    details_.bytes = delivery.payload.size();
    const std::uint64_t now = ticks();
    finish(now);
    if (!has_replied(delivery)) return;
    trace_->record(TraceKind::kReply, 0, now, now, {reply, details_.peer, 0});
  }
  static bool has_replied(const Delivery& delivery) noexcept {
    return packet::handler_in(delivery.reply) != 0;
  }

 private:
  void finish(std::uint64_t now) noexcept {
    runs_ = false;
    trace_->record(kind_, name_, begin_, now, details_);
  }

  const EndpointParts& parts_;
  Trace* const trace_;
  bool runs_ = false;
  // Of a handler that runs.
  TraceKind kind_ = TraceKind::kNothing;
  TraceName name_ = 0;
  std::uint64_t begin_ = 0;
  TraceDetails details_;
};

// The last part of each poll.
class TracedPolls final : public Poller {
 public:
  int poll() override {
    if (Trace* const trace = active_trace()) trace->poll_ends();
    return 0;
  }
  bool has_work() noexcept override { return false; }
};

}  // namespace am
