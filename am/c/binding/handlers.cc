// The handler table of an endpoint, and handler 0.

#include <mutex>
#include <string>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/token.h"
#include "am/message/returned.h"

namespace am::c {
namespace {

using ReturnedFunction = void (*)(int status, op_t opcode, void* argblock);

op_t opcode_of(const Returned& message) noexcept {
  const int kind = static_cast<int>(message.kind);  // 0, 1, 2, as the opcodes of one role follow
  const int first = message.role == Role::kReply ? AM_REPLY_M : AM_REQUEST_M;
  return static_cast<op_t>(first + kind);
}

void call_returned(const EndpointState& core, ReturnedFunction function, const Returned& message) {
  AM_returned_t block{
      .endpoint = core.handle,
      .destination = static_cast<int>(message.destination),
      .handler = message.handler,
      .numargs = static_cast<int>(message.arguments.size() / sizeof(std::int32_t)),
      .args = reinterpret_cast<const std::int32_t*>(message.arguments.data()),
      .buffer = message.payload.empty() ? nullptr : message.payload.data(),
      .nbytes = message.kind == Kind::kLong ? message.segment_bytes : message.payload.size(),
      .dest_offset = message.segment_offset,
      .get = message.get ? 1 : 0};
  const Handling handling;
  function(static_cast<int>(message.status), opcode_of(message), &block);
}

int check_handler_index(const char* call, ep_t endpoint, handler_t index) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  const int size = endpoint->core->handlers;
  if (index >= 0 && index < size) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              "there is no handler " + std::to_string(index) + ": the table has " +
                  std::to_string(size) + " places");
}

int check_function(const char* call, AM_handler_fn_t function) {
  if (function != nullptr) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call, "NULL is no handler");
}

// Of an endpoint of a parallel bundle this waits for handlers.
int check_may_set(const char* call, ep_t endpoint) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  return endpoint->core->parallel ? check_no_handler(call) : static_cast<int>(AM_OK);
}

bool has_callbacks(const EndpointState& core) noexcept {
  return core.before_handler != nullptr || core.after_handler != nullptr;
}

// Has messages for `index` call `function`, directly unless the endpoint has callbacks.
void install(EndpointState& core, handler_t index, AM_handler_fn_t function) {
  core.set_untyped_handler(static_cast<HandlerIndex>(index),
                           has_callbacks(core) ? &deliver_with_callbacks : &deliver,
                           reinterpret_cast<void*>(function), /*replace=*/true, function);
}

// Holding `setting`.
int set_at(const char* call, ep_t endpoint, handler_t index, AM_handler_fn_t function) {
  if (const int code = check_handler_index(call, endpoint, index)) return code;
  if (const int code = check_function(call, function)) return code;
  EndpointState& core = *endpoint->core;
  return guarded(call, [&] {
    if (index == 0) {
      const auto returned = reinterpret_cast<ReturnedFunction>(function);
      core.on_returned(
          [&core, returned](const Returned& message) { call_returned(core, returned, message); });
    } else {
      install(core, index, function);
    }
    core.functions[index] = function;
  });
}

int set(const char* call, ep_t endpoint, handler_t index, AM_handler_fn_t function) {
  if (const int code = check_may_set(call, endpoint)) return code;
  const std::lock_guard lock(endpoint->core->setting);
  return set_at(call, endpoint, index, function);
}

int set_new(const char* call, ep_t endpoint, handler_t index, AM_handler_fn_t function) {
  if (const int code = check_may_set(call, endpoint)) return code;
  const std::lock_guard lock(endpoint->core->setting);
  if (const int code = check_handler_index(call, endpoint, index)) return code;
  if (endpoint->core->functions[index] != nullptr) {
    return fail(
        AM_ERR_IN_USE, call,
        "handler " + std::to_string(index) + " is set already; AM_ReplaceHandler() overwrites it");
  }
  return set_at(call, endpoint, index, function);
}

int set_any(const char* call, ep_t endpoint, handler_t* index, AM_handler_fn_t function) {
  if (const int code = check_may_set(call, endpoint)) return code;
  if (const int code = check_result(call, index)) return code;
  const std::lock_guard lock(endpoint->core->setting);
  const EndpointState& core = *endpoint->core;
  handler_t free = 1;
  while (free < core.handlers && core.functions[free] != nullptr) ++free;
  if (free == core.handlers) {
    return fail(
        AM_ERR_RESOURCE, call,
        "all places of the table but 0 are in use, " + std::to_string(free - 1) + " of them");
  }
  if (const int code = set_at(call, endpoint, free, function)) return code;
  *index = free;
  return AM_OK;
}

int set_callbacks(const char* call, ep_t endpoint, AMX_preHandlerCallback_t before,
                  AMX_postHandlerCallback_t after) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  if (const int code = check_no_handler(call)) return code;
  EndpointState& core = *endpoint->core;
  const std::lock_guard lock(core.setting);
  return guarded(call, [&] {
    core.before_handler = before;
    core.after_handler = after;
    for (int index = 1; index < core.handlers; ++index) {
      if (core.functions[index] != nullptr) install(core, index, core.functions[index]);
    }
  });
}

int set_handler_count(const char* call, ep_t endpoint, int count) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  if (count < 1) return fail(AM_ERR_BAD_ARG, call, std::to_string(count) + " handlers; at least 1");
  if (count > kHandlers) {
    return fail(AM_ERR_RESOURCE, call,
                std::to_string(count) + " handlers; at most " + std::to_string(kHandlers));
  }
  EndpointState& core = *endpoint->core;
  for (int index = count; index < core.handlers; ++index) {
    if (core.functions[index] == nullptr) continue;
    return fail(AM_ERR_IN_USE, call,
                "handler " + std::to_string(index) + " is set, and would be beyond the end");
  }
  core.handlers = count;
  return AM_OK;
}

}  // namespace
}  // namespace am::c

using am::c::check_result;

int AM_SetHandler(ep_t endpoint, handler_t index, AM_handler_fn_t function) {
  return am::c::set_new("AM_SetHandler", endpoint, index, function);
}

int AM_SetHandlerAny(ep_t endpoint, handler_t* index, AM_handler_fn_t function) {
  return am::c::set_any("AM_SetHandlerAny", endpoint, index, function);
}

int AM_ReplaceHandler(ep_t endpoint, handler_t index, AM_handler_fn_t function) {
  return am::c::set("AM_ReplaceHandler", endpoint, index, function);
}

int AM_GetHandler(ep_t endpoint, handler_t index, AM_handler_fn_t* function) {
  constexpr const char* kCall = "AM_GetHandler";
  if (const int code = am::c::check_handler_index(kCall, endpoint, index)) return code;
  if (const int code = check_result(kCall, function)) return code;
  if (endpoint->core->functions[index] == nullptr) {
    return am::c::fail(AM_ERR_RESOURCE, kCall, "handler " + std::to_string(index) + " is not set");
  }
  *function = endpoint->core->functions[index];
  return AM_OK;
}

int AMX_SetHandlerCallbacks(ep_t endpoint, AMX_preHandlerCallback_t before,
                            AMX_postHandlerCallback_t after) {
  return am::c::set_callbacks("AMX_SetHandlerCallbacks", endpoint, before, after);
}

int AM_SetNumHandlers(ep_t endpoint, int count) {
  return am::c::set_handler_count("AM_SetNumHandlers", endpoint, count);
}

int AM_GetNumHandlers(ep_t endpoint, int* count) {
  return am::c::get("AM_GetNumHandlers", endpoint, count,
                    [](auto& core) { return core.handlers.load(); });
}

int AM_MaxNumHandlers(int* count) {
  if (const int code = check_result("AM_MaxNumHandlers", count)) return code;
  *count = am::kHandlers;
  return AM_OK;
}
