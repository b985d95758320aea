#pragma once

#include <cstdint>

#include "am/core/endpoint.h"
#include "am/core/parts.h"
#include "am/core/poller.h"
#include "am/observe/event.h"
#include "am/observe/trace.h"

// What an endpoint writes to a trace (am/observe), of which it is while there is one when it is
// made. Such an endpoint takes no shortcut: Outgoing::direct() finds nothing and every barrier is
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
      run_.begin = ticks_after_loads();
  }
  ~TracedHandler() {
    if (!runs_) [[likely]]
      return;
    Trace::forget_poll();
    run_.end = ticks();
    trace_->record(run_);
  }
  TracedHandler(const TracedHandler&) = delete;
  TracedHandler& operator=(const TracedHandler&) = delete;
  explicit operator bool() const noexcept { return trace_ != nullptr; }

  // If there is a trace: the message with `flow`, of `peer`, will be given to its handler.
  void begin(Role role, HandlerIndex handler, Rank peer, TraceFlow flow) noexcept {
    run_.kind = role == Role::kReply    ? TraceKind::kReplyHandler
                : role == Role::kOneWay ? TraceKind::kOneWayHandler
                                        : TraceKind::kRequestHandler;
    run_.name = traced_name(parts_, *trace_, handler);
    run_.details = {.flow = flow, .peer = peer};
    if (is_in_poll()) Trace::handler_begins(run_.begin);
    runs_ = true;
  }
  // It has returned, or, by `status`, it was not called. `reply`: the flow of what it has replied;
  // by default that of a process of this node.
  void end(Status status, const Delivery& delivery) noexcept {
    end(status, delivery, reply_of(run_.details.flow));
  }
  void end(Status status, const Delivery& delivery, TraceFlow reply) noexcept {
    runs_ = false;
    if (status != Status::kDelivered) return;
    run_.details.bytes = delivery.payload.size();
    if (has_replied(delivery)) run_.reply = reply;
    run_.end = ticks();
    if (is_in_poll()) {
      trace_->record_late(run_);
    } else {
      trace_->record(run_);
    }
  }
  static bool has_replied(const Delivery& delivery) noexcept {
    return packet::handler_in(delivery.reply) != 0;
  }

 private:
  // Whether the thread says when its poll ends: those of a parallel bundle do that in turns.
  bool is_in_poll() const noexcept { return parts_.bundle->access() == Access::kSequential; }

  const EndpointParts& parts_;
  Trace* const trace_;
  bool runs_ = false;
  Trace::RunHandler run_;
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
