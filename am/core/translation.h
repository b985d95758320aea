#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "am/message/correspondent.h"
#include "am/types/types.h"
#include "shmem/mailbox.h"

namespace am {

// An index of a translation table as a request takes it: the number, with the place of the call,
// which the report on a job that stands still names. An integer converts to it.
using To = Located<std::uint32_t>;

// The route to an endpoint of this node, made at the first request.
struct Near {
  Owned<shmem::Outbox> box;
  Correspondent peer;  // as the source of its replies
  std::array<std::uint64_t, shmem::window(shmem::Lane::kLong)> offsets{};  // of long requests
  // Requests that await replies and were made with another tag than the endpoint has now.
  struct Former {
    Tag tag;
    std::uint64_t slots[shmem::kLanes];
  };
  std::vector<Former> retagged;
};
// A place in an endpoint's translation table; all zero bits at first.
struct Translation {
  bool used;      // the rest says what is mapped
  bool unmapped;  // not what Exchange::connect() maps everywhere, either
  bool closing;   // it is being unmapped, and sends no more
  Name name;
  Tag tag;
  Near* near;
};

}  // namespace am
