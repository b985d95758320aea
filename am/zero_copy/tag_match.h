#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "am/zero_copy/slots.h"
#include "am/zero_copy/types.h"

namespace am::zero_copy {

// Matches requests with the memory that is posted for their payloads, by tags that the user
// chooses: whichever comes first waits for the other.
//
// Pure logic. Thread rule: one thread at a time.
class TagMatch {
 public:
  // A request whose memory is not posted yet.
  struct Waiting {
    ZeroCopyInfo source;
    std::vector<std::byte> along;  // the payload, if it came with the request
  };

  // Whether a request, or memory, waits under `tag`.
  bool awaits_memory(std::uint64_t tag) const { return waiting_.contains(tag); }
  bool awaits_request(std::uint64_t tag) const { return posted_.contains(tag); }

  // Memory is there. The request that has waited for it, which waits no longer; if there is none,
  // the memory waits. No memory may wait under that tag.
  std::optional<Waiting> post(std::uint64_t tag, const End& end) {
    const auto found = waiting_.find(tag);
    if (found == waiting_.end()) {
      posted_.emplace(tag, end);
      return std::nullopt;
    }
    std::optional<Waiting> request(std::move(found->second));
    waiting_.erase(found);
    return request;
  }
  // A request is there, likewise. No request may wait under that tag.
  std::optional<End> match(std::uint64_t tag, const ZeroCopyInfo& source,
                           std::span<const std::byte> along) {
    const auto found = posted_.find(tag);
    if (found == posted_.end()) {
      waiting_.emplace(tag, Waiting{source, {along.begin(), along.end()}});
      return std::nullopt;
    }
    std::optional<End> memory(std::move(found->second));
    posted_.erase(found);
    return memory;
  }

 private:
  std::map<std::uint64_t, End> posted_;
  std::map<std::uint64_t, Waiting> waiting_;
};

}  // namespace am::zero_copy
