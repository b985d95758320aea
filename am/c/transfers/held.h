// am/c/transfers: what moves bytes without messages, in C (am/c/channel.h, am/c/zero_copy.h), over
// am/channel and am/zero_copy, by the handles and codes of the binding. What a program makes here
// belongs to a bundle, and ends with it at the latest.
//
// This file: what both headers' calls share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/places.h"
#include "am/c/types.h"
#include "am/types/forked.h"

namespace am::c {

// Gives `core` a place of `table`, and leaves that at `result`. Returns a code.
template <class Table, class Core, class Handle>
int hold(const char* call, Table& table, std::unique_ptr<Core> core, Handle* result) noexcept {
  *result = table.take(core.get(), [](auto*) {});
  if (*result == nullptr) return fail(AM_ERR_RESOURCE, call, "there are too many; free some");
  static_cast<void>(core.release());
  return AM_OK;
}

// Ends what is held there.
template <class Table, class Handle>
void drop(Table& table, Handle* handle) noexcept {
  const std::unique_ptr<std::remove_pointer_t<decltype(handle->core)>> core(handle->core);
  table.free(handle);
}

// Has, from the first call on, `kEnd` called before a bundle ends, and `kForget` in forked
// children.
template <auto kForget, auto kEnd>
void see_to() {
  static const bool once = (spoil_in_children(kForget), before_bundle_ends(kEnd), true);
  static_cast<void>(once);
}

// Checks that a handle of a bundle is one, for a call that handlers may not make.
inline int check_outside_handlers(const char* call, eb_t bundle) noexcept {
  if (const int code = check_bundle(call, bundle)) return code;
  return check_no_handler(call);
}

inline int check_memory(const char* call, const void* memory, std::size_t nbytes) noexcept {
  if (memory != nullptr || nbytes == 0) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call, "NULL is no memory of " + std::to_string(nbytes) + " bytes");
}

}  // namespace am::c
