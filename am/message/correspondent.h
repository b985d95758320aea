#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "am/message/admission.h"
#include "am/types/types.h"

namespace am {

// The endpoint that sends into one of our inboxes.
struct Correspondent {
  Name name{};
  Tag tag = kTagNone;                             // with which it mapped this endpoint
  bool admitted = false;                          // its tag is ours
  const PublishedAdmission* admission = nullptr;  // of its endpoint, live; if it is on this node
  std::byte* segment = nullptr;                   // its process's segment, mapped here
  // Of the long replies to its requests, by lane and slot: the offsets as the handlers gave them.
  std::vector<std::array<std::uint64_t, 64>> reply_offsets;
};

}  // namespace am
