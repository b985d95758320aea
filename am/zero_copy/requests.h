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
#include "am/zero_copy/wire.h"
#include "am/zero_copy/zero_copy.h"

namespace am::zero_copy {

// Matches requests with the memory that is posted for their payloads, by tags that the user
// chooses: whichever comes first waits for the other.
//
// Pure logic. Thread rule: one thread at a time.
class TagMatch {
 public:
  // A request whose memory is not posted yet.
  struct Waiting {
    std::vector<ZeroCopyInfo> sources;  // of its payloads
    std::vector<std::byte> along;       // payloads that came with the request
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
  std::optional<End> match(std::uint64_t tag, std::span<const ZeroCopyInfo> sources,
                           std::span<const std::byte> along) {
    const auto found = posted_.find(tag);
    if (found == posted_.end()) {
      waiting_.emplace(tag,
                       Waiting{{sources.begin(), sources.end()}, {along.begin(), along.end()}});
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

class Engine;

// Requests whose payload goes from the sender's memory to where the receiver says. The sender
// announces it; a handler there names memory, or a tag under which memory is posted; then the
// receiver gets the payload by an ordinary transfer, or has it already if it is small.
//
// Thread rule: the bundle's.
class Requests {
 public:
  // All outlive it.
  Requests(Engine& engine, Slots& slots) noexcept;

  // What ZeroCopy's functions of the same names do.
  void add_handler(const ZeroCopy::HandlerEntry& entry) { handlers_.push_back(entry); }
  HandlerIndex add_untyped_handler(const ZeroCopy::HandlerEntry& entry);
  // Throws Error unless such a handler has that number, and may be given so many words.
  void check_untyped(HandlerIndex handler, std::size_t words) const;
  HandlerIndex index_of(void (*invoke)(ZeroCopyRequest&, const std::byte*)) const;
  void announce(std::span<const Rank> to, ZeroCopy::Payloads payloads, ZeroCopyCallback done,
                Announcement announcement);
  void post(std::uint64_t tag, const End& end, Call call);

  // One has come from another process: calls its handler. `bytes` is the payload if it is small.
  void take(Rank from, std::span<const std::byte> bytes, const Announcement& announcement);
  // What a ZeroCopyRequest's receive() and match() do.
  bool awaits(std::uint64_t tag) const { return by_tag_.awaits_memory(tag); }
  void match(std::uint64_t tag, std::span<const ZeroCopyInfo> sources,
             std::span<const std::byte> along);
  void accept(std::span<const ZeroCopyInfo> sources, std::span<const std::byte> along,
              const End& end);
  void accept_each(std::span<const ZeroCopyInfo> sources, std::span<const std::byte> along,
                   std::span<const std::span<std::byte>> memory, const End& end);
  // An end of a transfer that is no ZeroCopyBuffer.
  End posted_end(std::span<std::byte> memory, ZeroCopyCallback done, std::uint64_t reference);
  Bundle& bundle() const noexcept;

 private:
  bool takes(const Announcement& announcement) const noexcept;
  void check_announcement(std::span<const Rank> to, std::size_t payloads) const;
  const ZeroCopyInfo& open_payload(std::span<const std::byte> payload, SharedCallback done,
                                   std::size_t receivers);
  void announce_several(std::span<const Rank> to, ZeroCopy::Payloads payloads,
                        ZeroCopyCallback done, Announcement announcement);
  std::vector<ZeroCopyInfo> read_parts(Rank from, std::span<const std::byte>& bytes,
                                       std::size_t count) const;
  void accept_one(const ZeroCopyInfo& source, std::span<const std::byte> along, const End& end);
  // The sender is to learn that nothing of its payload is taken.
  void drop(const ZeroCopyInfo& source);

  Engine& engine_;
  Slots& slots_;
  const Rank me_;
  // Owned by the bundle's thread.
  std::vector<ZeroCopy::HandlerEntry> handlers_;
  TagMatch by_tag_;
};

}  // namespace am::zero_copy
