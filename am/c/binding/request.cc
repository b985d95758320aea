// Requests, and gets: what C programs say becomes an UntypedRequest, or UntypedGet, of the core.

#include <array>
#include <string>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/message_check.h"
#include "am/c/binding/own_queue.h"
#include "am/c/binding/token.h"
#include "am/core/untyped_send.h"

namespace am::c {
namespace {

// This and the next get copies: what another function may find by its address is in memory, and
// each load and store there delays the usual request.
[[gnu::cold]] int refuse(const char* call, ep_t from, int index, Outgoing given) noexcept {
  if (const int code = check_endpoint(call, from)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (const int code = check_message(call, given)) return code;
  // Asked last, and by its failing, as asking costs as much as all of the above.
  if (from->core->mapped(static_cast<std::uint32_t>(index))) {
    return fail_by_exception(call);
  }
  return fail_not_mapped(call, index);
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
    return refuse(call, handle, index, given);
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
    return refuse(call, handle, index, given);
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

}  // namespace

// --- Gets: reads of another endpoint's segment into the own one

namespace {

// A get as the calls of am/c/messages.h are given it. The payload is not the caller's, so `message`
// has any pointer for it.
struct Get {
  int index;
  std::uint64_t source_offset;
  std::uint64_t dest_offset;
  Outgoing message;
};

int check_fits(const char* call, const Endpoint& endpoint, const Get& get) {
  const std::uint64_t size = endpoint.segment().size();
  const std::size_t nbytes = get.message.nbytes;
  if (get.dest_offset <= size && nbytes <= size - get.dest_offset) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              std::to_string(nbytes) + " bytes at offset " + std::to_string(get.dest_offset) +
                  " do not fit the own segment of " + std::to_string(size) +
                  " bytes; AM_SetSeg() sets it");
}

int check_get(const char* call, ep_t endpoint, const Get& get) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (const int code = check_message(call, get.message)) return code;
  if (get.index < 0 || !endpoint->core->mapped(static_cast<std::uint32_t>(get.index))) {
    return fail_not_mapped(call, get.index);
  }
  if (endpoint->core->functions[static_cast<std::size_t>(get.message.handler)] == nullptr) {
    return fail(AM_ERR_BAD_ARG, call,
                "handler " + std::to_string(get.message.handler) +
                    " of this endpoint is not set; AM_SetHandler() sets it");
  }
  return check_fits(call, *endpoint->core, get);
}

int start(const char* call, Patience patience, ep_t endpoint, const Get& get) noexcept {
  return guarded(call, [&] {
    if (const int code = check_get(call, endpoint, get)) return code;
    EndpointState& from = *endpoint->core;
    const auto to = static_cast<std::uint32_t>(get.index);
    const UntypedGet untyped{.handler = static_cast<HandlerIndex>(get.message.handler),
                             .arguments = get.message.words(),
                             .source = get.source_offset,
                             .offset = get.dest_offset,
                             .bytes = get.message.nbytes};
    if (!has_queued(from) && from.try_get_index(to, untyped)) return static_cast<int>(AM_OK);
    return send_slowly(call, from, to, untyped, patience);
  });
}

int start(const char* call, Patience patience, ep_t endpoint, int index, std::uint64_t source,
          std::uint64_t dest, handler_t handler, std::size_t nbytes, int numargs,
          const std::int32_t* args) noexcept {
  static constexpr char kAny = 0;
  return start(call, patience, endpoint,
               {index, source, dest, {Kind::kLong, handler, numargs, args, &kAny, nbytes}});
}

}  // namespace

}  // namespace am::c

using am::Kind;
using am::c::Outgoing;
using am::c::Patience;

int AM_RequestArgs(ep_t endpoint, int index, handler_t handler, int numargs, const int32_t* args) {
  return am::c::send<Kind::kShort>("AM_Request", Patience::kWaits, endpoint, index,
                                   Outgoing{Kind::kShort, handler, numargs, args, nullptr, 0}, 0);
}

#define AM_DEFINE(M)                                                                 \
  int AM_Request##M(ep_t endpoint, int index, handler_t handler AM_PARAMETERS_##M) { \
    try {                                                                            \
      if (am::c::try_few<M>(endpoint, index, handler, {AM_WORDS_##M})) [[likely]]    \
        return AM_OK;                                                                \
    } catch (...) {                                                                  \
      return am::c::fail_by_exception("AM_Request");                                 \
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
  return am::c::send<Kind::kMedium>("AM_RequestI", Patience::kWaits, endpoint, index,
                                    Outgoing{Kind::kMedium, handler, numargs, args, source, nbytes},
                                    0);
}

int AM_RequestXferArgs(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                       const void* source, size_t nbytes, int numargs, const int32_t* args) {
  return am::c::send<Kind::kLong>("AM_RequestXfer", Patience::kWaits, endpoint, index,
                                  Outgoing{Kind::kLong, handler, numargs, args, source, nbytes},
                                  dest_offset);
}

int AM_RequestXferAsyncArgs(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                            const void* source, size_t nbytes, int numargs, const int32_t* args) {
  return am::c::send<Kind::kLong>("AM_RequestXferAsync", Patience::kTries, endpoint, index,
                                  Outgoing{Kind::kLong, handler, numargs, args, source, nbytes},
                                  dest_offset);
}

int AM_GetXferArgs(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                   uintptr_t dest_offset, size_t nbytes, int numargs, const int32_t* args) {
  return am::c::start("AM_GetXfer", Patience::kWaits, endpoint, index, source_offset, dest_offset,
                      handler, nbytes, numargs, args);
}

int AM_GetXferAsyncArgs(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                        uintptr_t dest_offset, size_t nbytes, int numargs, const int32_t* args) {
  return am::c::start("AM_GetXferAsync", Patience::kTries, endpoint, index, source_offset,
                      dest_offset, handler, nbytes, numargs, args);
}
