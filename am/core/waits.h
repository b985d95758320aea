#pragma once

#include <cstdint>

#include "am/core/endpoint_threads.h"
#include "am/core/translation.h"
#include "am/statistics/call_place.h"

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

  // Waits for something of the endpoint at `to`, which may be one of this thread's own, on behalf
  // of `call`.
  template <class Condition>
  void until(const To& to, const char* call, const char* needs, Condition&& condition);
  // Waits in whichever bundle the endpoint is in.
  template <class Condition, class Explain>
  void in_bundle(Condition&& condition, const Explain& explain);
  // Attempts a request that had no credit until it has.
  template <class Attempt>
  void for_credit(To to, const char* call, Attempt attempt);

  Reason reason(const To& to, const char* call, const char* needs) const noexcept;

 private:
  void stall(std::uint32_t to, const char* call);  // counts it; Error where nothing may wait

  EndpointParts& parts_;
};

}  // namespace am
