// Requests: what C programs say becomes an UntypedRequest of the core.

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/message_check.h"
#include "am/c/binding/token.h"
#include "am/c/binding/without_credit.h"

namespace am::c {
namespace {

[[gnu::cold]] int refuse(const char* call, ep_t from, int index, const Outgoing& given) noexcept {
  if (const int code = check_endpoint(call, from)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (const int code = check_message(call, given)) return code;
  // Asked last, and by its failing, as asking costs as much as all of the above.
  if (from->core->mapped(static_cast<std::uint32_t>(index))) {
    return fail_by_exception(call);
  }
  return fail_not_mapped(call, index);
}

[[gnu::always_inline]] inline int send(const char* call, Patience patience, ep_t handle, int index,
                                       const Outgoing& given, std::uint64_t offset) noexcept {
  const UntypedRequest request{.handler = static_cast<HandlerIndex>(given.handler),
                               .kind = given.kind,
                               .arguments = given.words(),
                               .payload = given.payload(),
                               .offset = offset};
  if (!is_endpoint(handle) || !is_valid(given) || Handling::now()) [[unlikely]]
    return refuse(call, handle, index, given);
  EndpointState& from = *handle->core;
  const auto to = static_cast<std::uint32_t>(index);
  try {
    int code = AM_OK;
    if (has_queued(from) || !from.try_request_index(to, request)) [[unlikely]]
      code = send_slowly(call, from, to, request, patience);
    if (code == AM_OK) {
      from.request_bytes[static_cast<int>(given.kind)].add(given.bytes(), from.parallel);
    }
    return code;
  } catch (...) {
    return refuse(call, handle, index, given);
  }
}

}  // namespace
}  // namespace am::c

using am::Kind;
using am::c::Outgoing;
using am::c::Patience;

int AM_RequestArgs(ep_t endpoint, int index, handler_t handler, int numargs, const int32_t* args) {
  return am::c::send("AM_Request", Patience::kWaits, endpoint, index,
                     Outgoing{Kind::kShort, handler, numargs, args, nullptr, 0}, 0);
}

int AM_RequestIArgs(ep_t endpoint, int index, handler_t handler, const void* source, size_t nbytes,
                    int numargs, const int32_t* args) {
  return am::c::send("AM_RequestI", Patience::kWaits, endpoint, index,
                     Outgoing{Kind::kMedium, handler, numargs, args, source, nbytes}, 0);
}

int AM_RequestXferArgs(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                       const void* source, size_t nbytes, int numargs, const int32_t* args) {
  return am::c::send("AM_RequestXfer", Patience::kWaits, endpoint, index,
                     Outgoing{Kind::kLong, handler, numargs, args, source, nbytes}, dest_offset);
}

int AM_RequestXferAsyncArgs(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                            const void* source, size_t nbytes, int numargs, const int32_t* args) {
  return am::c::send("AM_RequestXferAsync", Patience::kTries, endpoint, index,
                     Outgoing{Kind::kLong, handler, numargs, args, source, nbytes}, dest_offset);
}
