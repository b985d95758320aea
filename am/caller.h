#pragma once

#include <type_traits>

#include "am/segment.h"
#include "am/types.h"
#include "shmem/mailbox_layout.h"

namespace am {

// What an endpoint tells each mailbox it sends to about itself, in the mailbox's memory: `extent`
// changes with Endpoint::set_segment(), the rest is constant.
struct Caller {
  Name name;
  Tag tag;  // with which it mapped the owner
  PublishedExtent extent;
};
static_assert(std::is_trivially_copyable_v<Caller> && sizeof(Caller) <= shmem::kCallerBytes);

}  // namespace am
