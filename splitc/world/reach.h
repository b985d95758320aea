#pragma once

#include <cstddef>
#include <cstdint>

#include "am/core/bundle.h"
#include "am/observe/observers.h"
#include "am/types/forked.h"
#include "splitc/world/place.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

// What every transfer with another node is asked before it begins. It is part of the few functions
// that begin one: as calls, each of which copied `call`, these checks took as long as all else of a
// small store.

namespace splitc::detail {

// Throws the Error why this process may not reach [bits, bits + bytes) of another node now, unless
// all was that the calling thread had no context yet, which it has then.
[[gnu::cold]] void refuse_reach(std::uint64_t bits, std::uint64_t bytes, const Call& call);

[[gnu::always_inline]] inline bool is_reached(std::uint64_t bits, std::uint64_t bytes) noexcept {
  const std::uint64_t offset = bits & kOffsetMask;
  return proc_of(bits) < place.procs && this_context != nullptr && !am::Bundle::handling() &&
         offset <= place.segment_bytes && bytes <= place.segment_bytes - offset;
}

// What a transfer of `local` comes to: where the memory there is mapped, after an access that is
// watched; or far_base(), for one with another node that may begin.
[[gnu::always_inline]] inline std::byte* reach(std::uint64_t bits, const void* local,
                                               std::uint64_t bytes, const Call& call) {
  std::byte* const base = mapping_of(bits);
  const bool far = base == far_base();
  if (am::is_forked() || (far && !is_reached(bits, bytes))) [[unlikely]]
    refuse_reach(bits, bytes, call);
  if (am::is_observed()) [[unlikely]]
    note_operation(call, proc_of(bits), bytes);
  if (!far) [[unlikely]]
    return mapped(base, bits);
  check_local(local, bytes, call);
  return far_base();
}

}  // namespace splitc::detail
