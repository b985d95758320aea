#pragma once

#include <type_traits>

#include "am/message/admission.h"
#include "am/types/types.h"
#include "shmem/mailbox_layout.h"

namespace am {

// What an endpoint writes about itself into each mailbox that it sends to: name and tag are
// constant, `admission` says which long replies may be written.
struct Caller {
  Name name;
  Tag tag;  // with which it mapped the owner
  PublishedAdmission admission;
};
static_assert(std::is_trivially_copyable_v<Caller> && sizeof(Caller) <= shmem::kCallerBytes);

}  // namespace am
