// What happens with requests and gets that find no credit: AM_Request and its like wait,
// AM_RequestXferAsync and AM_GetXferAsync return AM_ERR_NOT_SENT, and what goes to the own process
// is queued (own_queue.h).
#pragma once

#include <cstdint>

#include "am/c/binding/handles.h"
#include "am/c/binding/own_queue.h"
#include "am/core/endpoint.h"

namespace am::c {

// Whether a call waits for credit, or returns AM_ERR_NOT_SENT.
enum class Patience { kWaits, kTries };

// Messages to this process that had no credit, and go first.
inline bool has_queued(const EndpointState& from) noexcept {
  return from.queue && !from.queue->empty();
}

// Sends a request or a get that found no credit, or has to go behind others of that kind. Returns a
// code, or throws what the core throws.
int send_slowly(const char* call, EndpointState& from, std::uint32_t to,
                const UntypedRequest& request, Patience patience);
int send_slowly(const char* call, EndpointState& from, std::uint32_t to, const UntypedGet& get,
                Patience patience);

}  // namespace am::c
