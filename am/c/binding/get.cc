// Gets: reads of another endpoint's segment into the own one.

#include <string>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/message_check.h"
#include "am/c/binding/own_queue.h"

namespace am::c {
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

using am::c::Patience;

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
