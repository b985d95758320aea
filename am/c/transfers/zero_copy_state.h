// What the calls for buffers and those for requests have in common (am/c/zero_copy.h).
#pragma once

#include <cstddef>
#include <deque>

#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"
#include "am/c/types.h"
#include "am/c/zero_copy.h"
#include "am/zero_copy/zero_copy.h"

namespace am::c {

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

// AM_OK; or AM_ERR_BAD_ARG: that is no handle of one.
int check_zero_copy(const char* call, AM_zero_copy_t zero) noexcept;

// What calls `callback` with `data`; empty if that is NULL.
ZeroCopyCallback to_callback(AM_transfer_callback_t callback, void* data);

}  // namespace am::c

struct AM_ZeroCopy {
  am::c::ZeroCopyState* core = nullptr;
};
