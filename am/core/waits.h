#pragma once

#include <cstdint>

#include "am/core/endpoint_threads.h"
#include "am/core/translation.h"
#include "am/observe/observers.h"
#include "am/types/function.h"

namespace am {

class EndpointParts;

// The calls of an endpoint that wait: for what, and where they may not.
//
// Thread rule: the bundle's; called without holding the lock of a parallel one.
class Waits {
 public:
  explicit Waits(EndpointParts& parts) noexcept : parts_(parts) {}

  // Error in a handler, which may not send requests; and where nothing may wait, which a callback
  // may not, either.
  void refuse_in_handler(std::uint32_t to, const char* call) const;
  void refuse_waiting(std::uint32_t to, const char* call) const;

  // Waits until `condition()`, on behalf of `call`. `needs` is what reports show; nothing is
  // counted. The endpoint at `to` may belong to this thread, so all its bundles are polled.
  void until(const To& to, const char* call, const char* needs, FunctionRef<bool()> condition);
  // Waits in whichever bundle the endpoint is in.
  void in_bundle(FunctionRef<bool()> condition, FunctionRef<Reason()> explain);
  // A first attempt to send has failed: counts that, and tries again, polling, until it is sent.
  // (It may also have lacked an inbox, or an introduction.)
  void for_credit_of(const To& to, const char* call, FunctionRef<bool()> attempt);
  // The same, not inline, so that a request that has its credit is: a call of it costs more than
  // the request. Like Endpoint::try_far(), it gets copies: what another function may find by its
  // address is in memory, and each store to memory delays the request. What waits is no template,
  // as every kind of message would be compiled with its own.
  template <class Attempt>
  [[gnu::noinline]] void for_credit(To to, const char* call, Attempt attempt) {
    for_credit_of(to, call, attempt);
  }

  Reason reason(const To& to, const char* call, const char* needs) const noexcept;

 private:
  // Counts a request that has to wait; Error where nothing may.
  void stall(std::uint32_t to, const char* call);

  EndpointParts& parts_;
};

}  // namespace am
