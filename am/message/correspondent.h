#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "am/message/admission.h"
#include "am/message/handler.h"
#include "am/types/types.h"
#include "shmem/mailbox_layout.h"

namespace am {

// The endpoint that sends into one of our inboxes.
struct Correspondent {
  Name name{};
  Tag tag = kTagNone;                             // with which it mapped this endpoint
  bool admitted = false;                          // its tag is ours
  const PublishedAdmission* admission = nullptr;  // of its endpoint, live; if it is on this node
  std::byte* segment = nullptr;                   // its process's segment, mapped here
  // The offsets of the long replies to its requests, by lane and slot, as the handlers gave them.
  std::vector<std::array<std::uint64_t, 64>> reply_offsets;
  // What is added to the shape of each message, before it is compared with that of its handler: of
  // requests 0, of replies kReplyShape; kBarred if a tag may forbid it.
  Shape barrier = kBarred;
  // By lane: the head of the request to which its handler has staged the last long reply.
  std::array<std::uint64_t, shmem::kLanes> staged_reply{};
};

// What an endpoint writes about itself into each mailbox that it sends to: name and tag are
// constant, `admission` says which long replies may be written.
struct Caller {
  Name name;
  Tag tag;  // with which it mapped the owner
  PublishedAdmission admission;
};
static_assert(std::is_trivially_copyable_v<Caller> && sizeof(Caller) <= shmem::kCallerBytes);

}  // namespace am
