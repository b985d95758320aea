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

// The two forms of a call: with the last arguments in a va_list, and one by one. PARAMETERS and
// NAMES are those before `numargs`, in parentheses.
#define UNPACK(...) __VA_ARGS__
#define BOTH_FORMS(CALL, PARAMETERS, NAMES)                      \
  int CALL##VA(UNPACK PARAMETERS, int numargs, va_list args) {   \
    const Arguments read(numargs, args);                         \
    return CALL##Args(UNPACK NAMES, numargs, read.words.data()); \
  }                                                              \
  int CALL(UNPACK PARAMETERS, int numargs, ...) {                \
    std::va_list list;                                           \
    va_start(list, numargs);                                     \
    const int code = CALL##VA(UNPACK NAMES, numargs, list);      \
    va_end(list);                                                \
    return code;                                                 \
  }

BOTH_FORMS(AM_Request, (ep_t endpoint, int index, handler_t handler), (endpoint, index, handler))
BOTH_FORMS(AM_RequestI,
           (ep_t endpoint, int index, handler_t handler, const void* source, size_t nbytes),
           (endpoint, index, handler, source, nbytes))
BOTH_FORMS(AM_RequestXfer,
           (ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler, const void* source,
            size_t nbytes),
           (endpoint, index, dest_offset, handler, source, nbytes))
BOTH_FORMS(AM_RequestXferAsync,
           (ep_t endpoint, int index, uintptr_t dest_offset, handler_t handler, const void* source,
            size_t nbytes),
           (endpoint, index, dest_offset, handler, source, nbytes))
BOTH_FORMS(AM_Reply, (void* token, handler_t handler), (token, handler))
BOTH_FORMS(AM_ReplyI, (void* token, handler_t handler, const void* source, size_t nbytes),
           (token, handler, source, nbytes))
BOTH_FORMS(AM_ReplyXfer,
           (void* token, uintptr_t dest_offset, handler_t handler, const void* source,
            size_t nbytes),
           (token, dest_offset, handler, source, nbytes))
BOTH_FORMS(AM_GetXfer,
           (ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
            uintptr_t dest_offset, size_t nbytes),
           (endpoint, index, source_offset, handler, dest_offset, nbytes))
BOTH_FORMS(AM_GetXferAsync,
           (ep_t endpoint, int index, uintptr_t source_offset, handler_t handler,
            uintptr_t dest_offset, size_t nbytes),
           (endpoint, index, source_offset, handler, dest_offset, nbytes))
