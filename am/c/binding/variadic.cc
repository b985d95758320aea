// The calls of am/c/messages.h that take their arguments one by one, or in a va_list.

#include <array>
#include <cstdarg>
#include <cstdint>

#include "am/c/messages.h"

namespace {

// The ints of a call, as many as `numargs` says; none if that is no number of arguments, which is
// refused later. They are read from the caller's `list`, which has to be ended there.
struct Arguments {
  Arguments(int numargs, std::va_list list) noexcept {
    if (numargs < 0 || numargs > AM_MaxShort()) return;
    for (int i = 0; i < numargs; ++i) words[i] = va_arg(list, int);
  }
  std::array<std::int32_t, AM_MaxShort()> words{};
};

}  // namespace

// Calls `call` with the named arguments, and those that follow `numargs` in a va_list.
#define FORWARD(call, ...)                           \
  std::va_list list;                                 \
  va_start(list, numargs);                           \
  const int code = call(__VA_ARGS__, numargs, list); \
  va_end(list);                                      \
  return code

int AM_RequestVA(ep_t endpoint, int index, handler_t handler, int numargs, va_list args) {
  return AM_RequestArgs(endpoint, index, handler, numargs, Arguments(numargs, args).words.data());
}
int AM_Request(ep_t endpoint, int index, handler_t handler, int numargs, ...) {
  FORWARD(AM_RequestVA, endpoint, index, handler);
}

int AM_RequestIVA(ep_t endpoint, int index, handler_t handler, const void* source, size_t nbytes,
                  int numargs, va_list args) {
  return AM_RequestIArgs(endpoint, index, handler, source, nbytes, numargs,
                         Arguments(numargs, args).words.data());
}
int AM_RequestI(ep_t endpoint, int index, handler_t handler, const void* source, size_t nbytes,
                int numargs, ...) {
  FORWARD(AM_RequestIVA, endpoint, index, handler, source, nbytes);
}

int AM_RequestXferVA(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                     const void* source, size_t nbytes, int numargs, va_list args) {
  return AM_RequestXferArgs(endpoint, index, dest_offset, handler, source, nbytes, numargs,
                            Arguments(numargs, args).words.data());
}
int AM_RequestXfer(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                   const void* source, size_t nbytes, int numargs, ...) {
  FORWARD(AM_RequestXferVA, endpoint, index, dest_offset, handler, source, nbytes);
}

int AM_RequestXferAsyncVA(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                          const void* source, size_t nbytes, int numargs, va_list args) {
  return AM_RequestXferAsyncArgs(endpoint, index, dest_offset, handler, source, nbytes, numargs,
                                 Arguments(numargs, args).words.data());
}
int AM_RequestXferAsync(ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler,
                        const void* source, size_t nbytes, int numargs, ...) {
  FORWARD(AM_RequestXferAsyncVA, endpoint, index, dest_offset, handler, source, nbytes);
}

int AM_ReplyVA(void* token, handler_t handler, int numargs, va_list args) {
  return AM_ReplyArgs(token, handler, numargs, Arguments(numargs, args).words.data());
}
int AM_Reply(void* token, handler_t handler, int numargs, ...) {
  FORWARD(AM_ReplyVA, token, handler);
}

int AM_ReplyIVA(void* token, handler_t handler, const void* source, size_t nbytes, int numargs,
                va_list args) {
  return AM_ReplyIArgs(token, handler, source, nbytes, numargs,
                       Arguments(numargs, args).words.data());
}
int AM_ReplyI(void* token, handler_t handler, const void* source, size_t nbytes, int numargs, ...) {
  FORWARD(AM_ReplyIVA, token, handler, source, nbytes);
}

int AM_ReplyXferVA(void* token, uintptr_t dest_offset, handler_t handler, const void* source,
                   size_t nbytes, int numargs, va_list args) {
  return AM_ReplyXferArgs(token, dest_offset, handler, source, nbytes, numargs,
                          Arguments(numargs, args).words.data());
}
int AM_ReplyXfer(void* token, uintptr_t dest_offset, handler_t handler, const void* source,
                 size_t nbytes, int numargs, ...) {
  FORWARD(AM_ReplyXferVA, token, dest_offset, handler, source, nbytes);
}

int AM_GetXferVA(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                 uintptr_t dest_offset, size_t nbytes, int numargs, va_list args) {
  return AM_GetXferArgs(endpoint, index, source_offset, handler, dest_offset, nbytes, numargs,
                        Arguments(numargs, args).words.data());
}
int AM_GetXfer(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
               uintptr_t dest_offset, size_t nbytes, int numargs, ...) {
  FORWARD(AM_GetXferVA, endpoint, index, source_offset, handler, dest_offset, nbytes);
}

int AM_GetXferAsyncVA(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                      uintptr_t dest_offset, size_t nbytes, int numargs, va_list args) {
  return AM_GetXferAsyncArgs(endpoint, index, source_offset, handler, dest_offset, nbytes, numargs,
                             Arguments(numargs, args).words.data());
}
int AM_GetXferAsync(ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
                    uintptr_t dest_offset, size_t nbytes, int numargs, ...) {
  FORWARD(AM_GetXferAsyncVA, endpoint, index, source_offset, handler, dest_offset, nbytes);
}
