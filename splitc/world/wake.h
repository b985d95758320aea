#pragma once

#include <cstddef>

#include "am/route/region_header.h"
#include "splitc/world/place.h"

namespace splitc::detail {

// Wakes the process of this node whose segment is mapped at `segment` here, if it sleeps: to be
// called behind a write that it may wait for. Any thread, handlers too. Costs a load, and a fence
// where place.kernel_fence is false.
inline void wake_owner(std::byte* segment) noexcept {
  am::RegionHeader::of(segment).bell.notify(shmem::Fence(place.kernel_fence));
}

}  // namespace splitc::detail
