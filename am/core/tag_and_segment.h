#pragma once

#include <atomic>
#include <cstddef>
#include <span>

#include "am/message/admission.h"
#include "am/message/handler.h"
#include "am/types/types.h"

namespace am {

// What an endpoint lets in: messages that have its tag, and long payloads that fit its segment. A
// record that Endpoint::set_tag() and set_segment() write.
//
// Thread rule: the bundle's; tag() may be read by any thread.
struct TagAndSegment {
  Tag tag() const noexcept { return own_tag.load(std::memory_order_relaxed); }
  // Whether a message that was sent with this tag is taken.
  bool admits(Tag with) const noexcept { return tag_admits(tag(), with); }
  // Whether a reply is taken to a request that was made when the tag was `former`.
  bool admits_reply(Tag former) const noexcept { return former == kTagNone || admits(former); }

  // What Correspondent::barrier is to be; kBarred sends every message through dispatch.cc. Of
  // requests: unless the sender's tag is admitted. Of replies: while some are to come to requests
  // that were made with another tag. Of a traced endpoint: always.
  Shape request_barrier(bool admitted) const noexcept {
    return admitted && !traced ? Shape{0} : kBarred;
  }
  Shape reply_barrier(bool retagged) const noexcept {
    return !retagged && !traced ? kReplyShape : kBarred;
  }

  const bool traced;  // the endpoint takes no short way (am/core/traced.h)
  // Endpoint::set_tag() changes it, with its copies in PublishedAdmission and TagEpochs.
  std::atomic<Tag> own_tag{kTagNone};  // no other memory is published by it
  std::span<std::byte> segment{};
  Extent extent{};  // the segment as other processes know it
};

}  // namespace am
