// Requests, and gets: what C programs say becomes an UntypedRequest, or UntypedGet, of the core.

#include <array>
#include <string>

#include "am/c/binding/handles.h"
#include "am/c/binding/message_check.h"
#include "am/c/binding/own_queue.h"
#include "am/c/binding/token.h"
#include "am/core/untyped_send.h"

namespace am::c {
namespace {

// This and the next get copies: what another function may find by its address is in memory, and
// each load and store there delays the usual request.
[[gnu::cold]] int fail_request(const char* call, ep_t from, int index, Outgoing given) noexcept {
  return guarded(call, [&] {
    const EndpointState& core = outside_handlers(core_of(from));
    check_message(given);
    // Asked last, and by its failing, as asking costs as much as all of the above.
    check_mapped(core, index);
    throw;
  });
}

// What is not sent at once to an endpoint of this node.
[[gnu::noinline]] int send_otherwise(const char* call, EndpointState& from, std::uint32_t to,
                                     UntypedRequest request, Patience patience) {
  if (!has_queued(from) && from.try_request_index(to, request)) return AM_OK;
  return send_slowly(call, from, to, request, patience);
}

template <Kind kKind>
[[gnu::always_inline]] inline int send(const char* call, Patience patience, ep_t handle, int index,
                                       const Outgoing& given, std::uint64_t offset) noexcept {
  const UntypedRequest request{.handler = static_cast<HandlerIndex>(given.handler),
                               .kind = kKind,
                               .arguments = given.words(),
                               .payload = given.payload(),
                               .offset = offset};
  if (!is_endpoint(handle) || !is_valid(given) || Handling::now()) [[unlikely]]
    return fail_request(call, handle, index, given);
  EndpointState& from = *handle->core;
  const auto to = static_cast<std::uint32_t>(index);
  try {
    int code = AM_OK;
    if (has_queued(from) || !from.try_direct_index<kKind>(to, request)) [[unlikely]]
      code = send_otherwise(call, from, to, request, patience);
    if (code == AM_OK) {
      from.request_bytes[static_cast<int>(kKind)].add(given.bytes(), from.parallel);
    }
    return code;
  } catch (...) {
    return fail_request(call, handle, index, given);
  }
}

// The usual short request with few arguments: no more than it needs. False: AM_RequestArgs() sends
// it otherwise, or says why not.
template <std::size_t kWords>
[[gnu::always_inline]] inline bool try_few(ep_t handle, int index, handler_t handler,
                                           const std::array<std::uint32_t, kWords>& words) {
  if (!is_endpoint(handle) || !is_handler(handler) || Handling::now()) [[unlikely]]
    return false;
  EndpointState& from = *handle->core;
  if (has_queued(from)) [[unlikely]]
    return false;
  if (!from.try_direct_index<Kind::kShort>(
          static_cast<std::uint32_t>(index),
          {.handler = static_cast<HandlerIndex>(handler), .arguments = words})) [[unlikely]]
    return false;
  from.request_bytes[static_cast<int>(Kind::kShort)].add(4 * kWords, from.parallel);
  return true;
}

// --- Gets: reads of another endpoint's segment into the own one

void check_get(const EndpointState& core, int index, std::uint64_t offset,
               const Outgoing& message) {
  check_message(message);
  check_mapped(core, index);
  if (core.functions[static_cast<std::size_t>(message.handler)] == nullptr) {
    refuse(AM_ERR_BAD_ARG, "handler " + std::to_string(message.handler) +
                               " of this endpoint is not set; AM_SetHandler() sets it");
  }
  const std::uint64_t size = core.segment().size();
  if (offset <= size && message.nbytes <= size - offset) return;
  refuse(AM_ERR_BAD_ARG, std::to_string(message.nbytes) + " bytes at offset " +
                             std::to_string(offset) + " do not fit the own segment of " +
                             std::to_string(size) + " bytes; AM_SetSeg() sets it");
}

int start(const char* call, Patience patience, ep_t endpoint, int index, std::uint64_t source,
          std::uint64_t dest, handler_t handler, std::size_t nbytes, int numargs,
          const std::int32_t* args) noexcept {
  return guarded(call, [&] {
    static constexpr char kAny = 0;  // the payload is not the caller's
    const Outgoing message{Kind::kLong, handler, numargs, args, &kAny, nbytes};
    EndpointState& from = outside_handlers(core_of(endpoint));
    check_get(from, index, dest, message);
    const auto to = static_cast<std::uint32_t>(index);
    const UntypedGet untyped{.handler = static_cast<HandlerIndex>(handler),
                             .arguments = message.words(),
                             .source = source,
                             .offset = dest,
                             .bytes = nbytes};
    if (!has_queued(from) && from.try_get_index(to, untyped)) return AM_OK;
    return send_slowly(call, from, to, untyped, patience);
  });
}

}  // namespace
}  // namespace am::c

using am::Kind;
using namespace am::c;

int AM_RequestArgs(ep_t endpoint, int index, handler_t handler, int numargs, const int32_t* args) {
  return send<Kind::kShort>("AM_Request", Patience::kWaits, endpoint, index,
                            Outgoing{Kind::kShort, handler, numargs, args, nullptr, 0}, 0);
}

#define AM_DEFINE(M)                                                                 \
  int AM_Request##M(ep_t endpoint, int index, handler_t handler AM_PARAMETERS_##M) { \
    try {                                                                            \
      if (try_few<M>(endpoint, index, handler, {AM_WORDS_##M})) [[likely]]           \
        return AM_OK;                                                                \
    } catch (...) {                                                                  \
      return fail_by_exception("AM_Request");                                        \
    }                                                                                \
    const std::int32_t args[] = {AM_ARGUMENTS_##M};                                  \
    return AM_RequestArgs(endpoint, index, handler, M, args);                        \
  }
AM_DEFINE(0)
AM_DEFINE(1)
AM_DEFINE(2)
AM_DEFINE(3)
AM_DEFINE(4)
#undef AM_DEFINE

int AM_RequestIArgs(ep_t endpoint, int index, handler_t handler, const void* source, size_t nbytes,
                    int numargs, const int32_t* args) {
  return send<Kind::kMedium>("AM_RequestI", Patience::kWaits, endpoint, index,
                             Outgoing{Kind::kMedium, handler, numargs, args, source, nbytes}, 0);
}

int AM_RequestXferArgs(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                       const void* source, size_t nbytes, int numargs, const int32_t* args) {
  return send<Kind::kLong>("AM_RequestXfer", Patience::kWaits, endpoint, index,
                           Outgoing{Kind::kLong, handler, numargs, args, source, nbytes},
                           dest_offset);
}

int AM_RequestXferAsyncArgs(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                            const void* source, size_t nbytes, int numargs, const int32_t* args) {
  return send<Kind::kLong>("AM_RequestXferAsync", Patience::kTries, endpoint, index,
                           Outgoing{Kind::kLong, handler, numargs, args, source, nbytes},
                           dest_offset);
}

int AM_GetXferArgs(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                   uintptr_t dest_offset, size_t nbytes, int numargs, const int32_t* args) {
  return start("AM_GetXfer", Patience::kWaits, endpoint, index, source_offset, dest_offset, handler,
               nbytes, numargs, args);
}

int AM_GetXferAsyncArgs(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                        uintptr_t dest_offset, size_t nbytes, int numargs, const int32_t* args) {
  return start("AM_GetXferAsync", Patience::kTries, endpoint, index, source_offset, dest_offset,
               handler, nbytes, numargs, args);
}
