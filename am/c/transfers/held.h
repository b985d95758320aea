// am/c/transfers: what moves bytes without messages, in C (am/c/channel.h, am/c/zero_copy.h), over
// am/channel and am/zero_copy, by the handles and codes of the binding. What a program makes here
// belongs to a bundle, and ends with it at the latest.
//
// This file: what the calls of both headers share, and those for buffers with those for requests.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"
#include "am/c/zero_copy.h"
#include "am/types/forked.h"
#include "am/zero_copy/zero_copy.h"

namespace am::c {

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

inline void check_memory(const void* memory, std::size_t nbytes) {
  if (memory != nullptr || nbytes == 0) return;
  refuse(AM_ERR_BAD_ARG, "NULL is no memory of " + std::to_string(nbytes) + " bytes");
}

struct ZeroCopyState {
  ZeroCopyState(eb_t owner, std::size_t pool_bytes)
      : bundle(owner), core(Library::get().job(), *owner->core, {.pool_bytes = pool_bytes}) {}

  // What takes requests.
  struct Handler {
    AM_zero_copy_handler_t function;
    void* data;
  };

  eb_t bundle;
  std::deque<Handler> handlers;  // by number; each stays where it is
  ZeroCopy core;
  std::size_t buffers = 0;
};

// What the handle names, once it is checked.
ZeroCopyState& core_of(AM_zero_copy_t zero);

// What calls `callback` with `data`; empty if that is NULL.
ZeroCopyCallback to_callback(AM_transfer_callback_t callback, void* data);

}  // namespace am::c

struct AM_ZeroCopy {
  am::c::ZeroCopyState* core = nullptr;
};
