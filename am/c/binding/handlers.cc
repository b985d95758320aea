// The handler table of an endpoint, and handler 0.

#include <mutex>
#include <string>

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

void check_index(const EndpointState& core, handler_t index) {
  const int size = core.handlers;
  if (index >= 0 && index < size) return;
  refuse(AM_ERR_BAD_ARG, "there is no handler " + std::to_string(index) + ": the table has " +
                             std::to_string(size) + " places");
}

// Of an endpoint of a parallel bundle its calls wait for handlers.
EndpointState& to_set(ep_t endpoint) {
  EndpointState& core = core_of(endpoint);
  if (core.parallel) check_no_handler();
  return core;
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
void set(EndpointState& core, handler_t index, AM_handler_fn_t function) {
  if (function == nullptr) refuse(AM_ERR_BAD_ARG, "NULL is no handler");
  if (index == 0) {
    const auto returned = reinterpret_cast<ReturnedFunction>(function);
    core.on_returned(
        [&core, returned](const Returned& message) { call_returned(core, returned, message); });
  } else {
    install(core, index, function);
  }
  core.functions[index] = function;
}

}  // namespace
}  // namespace am::c

using namespace am::c;

int AM_SetHandler(ep_t endpoint, handler_t index, AM_handler_fn_t function) {
  return guarded("AM_SetHandler", [=] {
    EndpointState& core = to_set(endpoint);
    const std::lock_guard lock(core.setting);
    check_index(core, index);
    if (core.functions[index] != nullptr) {
      refuse(AM_ERR_IN_USE, "handler " + std::to_string(index) +
                                " is set already; AM_ReplaceHandler() overwrites it");
    }
    set(core, index, function);
  });
}

int AM_SetHandlerAny(ep_t endpoint, handler_t* index, AM_handler_fn_t function) {
  return guarded("AM_SetHandlerAny", [=] {
    EndpointState& core = to_set(endpoint);
    check_result(index);
    const std::lock_guard lock(core.setting);
    handler_t free = 1;
    while (free < core.handlers && core.functions[free] != nullptr) ++free;
    if (free == core.handlers) {
      refuse(AM_ERR_RESOURCE,
             "all places of the table but 0 are in use, " + std::to_string(free - 1) + " of them");
    }
    set(core, free, function);
    *index = free;
  });
}

int AM_ReplaceHandler(ep_t endpoint, handler_t index, AM_handler_fn_t function) {
  return guarded("AM_ReplaceHandler", [=] {
    EndpointState& core = to_set(endpoint);
    const std::lock_guard lock(core.setting);
    check_index(core, index);
    set(core, index, function);
  });
}

int AM_GetHandler(ep_t endpoint, handler_t index, AM_handler_fn_t* function) {
  return get("AM_GetHandler", endpoint, function, [=](auto& core) {
    check_index(core, index);
    const AM_handler_fn_t found = core.functions[index];
    if (found == nullptr) {
      refuse(AM_ERR_RESOURCE, "handler " + std::to_string(index) + " is not set");
    }
    return found;
  });
}

int AMX_SetHandlerCallbacks(ep_t endpoint, AMX_preHandlerCallback_t before,
                            AMX_postHandlerCallback_t after) {
  return guarded("AMX_SetHandlerCallbacks", [=] {
    EndpointState& core = outside_handlers(core_of(endpoint));
    const std::lock_guard lock(core.setting);
    core.before_handler = before;
    core.after_handler = after;
    for (int index = 1; index < core.handlers; ++index) {
      if (core.functions[index] != nullptr) install(core, index, core.functions[index]);
    }
  });
}

int AM_SetNumHandlers(ep_t endpoint, int count) {
  return guarded("AM_SetNumHandlers", [=] {
    EndpointState& core = core_of(endpoint);
    if (count < 1) refuse(AM_ERR_BAD_ARG, std::to_string(count) + " handlers; at least 1");
    if (count > am::kHandlers) {
      refuse(AM_ERR_RESOURCE,
             std::to_string(count) + " handlers; at most " + std::to_string(am::kHandlers));
    }
    for (int index = count; index < core.handlers; ++index) {
      if (core.functions[index] == nullptr) continue;
      refuse(AM_ERR_IN_USE,
             "handler " + std::to_string(index) + " is set, and would be beyond the end");
    }
    core.handlers = count;
  });
}

int AM_GetNumHandlers(ep_t endpoint, int* count) {
  return get("AM_GetNumHandlers", endpoint, count, [](auto& core) { return core.handlers.load(); });
}

int AM_MaxNumHandlers(int* count) {
  return give("AM_MaxNumHandlers", count, static_cast<int>(am::kHandlers));
}
