#pragma once

#include "am/message/returned.h"
#include "am/types/function.h"

namespace am {

class EndpointParts;

// AM-II's handler 0 of an endpoint: what happens to its own messages that come back.
//
// Thread rule: the bundle's; a parallel one is locked, but not while the handler runs.
class ReturnedMessages {
 public:
  explicit ReturnedMessages(EndpointParts& parts) noexcept : parts_(parts) {}

  void set_handler(Function<void(const Returned&)> handler) { handler_ = std::move(handler); }
  // Counts the message and passes it to the handler; without one ends the job with sentence() of
  // am/message/returned.h, before which Router::fatal() puts the rank. Every message that comes
  // back passes here.
  void deliver(const Returned& message);

 private:
  void call_unlocked(const Returned& message);

  EndpointParts& parts_;
  Function<void(const Returned&)> handler_;
};

// Shows a request to handler 0, which is a get, as what it was to the program (am/core/get.cc).
void show_as_get(Returned& returned) noexcept;

}  // namespace am
