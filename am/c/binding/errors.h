// What the calls of the C binding return: a code, with a sentence that is kept for the caller. No
// exception leaves this room: every call that may throw runs inside guarded().
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "am/c/types.h"

namespace am::c {

// Keeps "rank 1: CALL: WHAT" for AM_ErrorSentence(), prints it if errors are to be printed, and
// returns `code`. Any thread.
[[gnu::cold]] int fail(int code, const char* call, std::string_view what) noexcept;

// Ends the call that runs inside guarded(), which then fails with this. The checks of this room and
// those above do so. What fails often, such as a call that would have to wait, returns fail().
[[noreturn, gnu::cold]] void refuse(int code, std::string what);

// Fails by the exception that is being handled: as refuse() said; or AM_ERR_RESOURCE, with the
// sentence that the library's Errors are, or what others such as those of a handler written in C++
// say.
[[gnu::cold]] int fail_by_exception(const char* call) noexcept;

// Returns what `body()` returns, AM_OK if that is nothing; a code for what it throws.
template <class Body>
[[gnu::always_inline]] inline int guarded(const char* call, Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      std::forward<Body>(body)();
      return AM_OK;
    } else {
      return std::forward<Body>(body)();
    }
  } catch (...) {
    return fail_by_exception(call);
  }
}

}  // namespace am::c
