#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "am/zero_copy/ends.h"
#include "am/zero_copy/slots.h"
#include "am/zero_copy/tag_match.h"
#include "am/zero_copy/wire.h"
#include "am/zero_copy/zero_copy.h"

namespace am::zero_copy {

class Engine;

// Requests whose payload goes from the sender's memory to where the receiver says. The sender
// announces it; a handler there names memory, or a tag under which memory is posted; then the
// receiver gets the payload by an ordinary transfer, or has it already if it is small.
//
// Thread rule: the bundle's.
class Requests {
 public:
  // All outlive it.
  Requests(Engine& engine, Slots& slots, Ends& ends) noexcept;

  // What ZeroCopy's functions of the same names do.
  void add_handler(const ZeroCopy::HandlerEntry& entry) { handlers_.push_back(entry); }
  HandlerIndex index_of(void (*invoke)(ZeroCopyRequest&, const std::byte*)) const;
  void announce(std::span<const Rank> to, std::span<const std::byte> payload, ZeroCopyCallback done,
                Announcement announcement);
  void post(std::uint64_t tag, const End& end);

  // One has come from another process: calls its handler. `bytes` is the payload if it is small.
  void take(Rank from, std::span<const std::byte> bytes, const Announcement& announcement);
  // What a ZeroCopyRequest's receive() and match() do.
  bool awaits(std::uint64_t tag) const { return by_tag_.awaits_memory(tag); }
  void match(std::uint64_t tag, const ZeroCopyInfo& source, std::span<const std::byte> along);
  void accept(const ZeroCopyInfo& source, std::span<const std::byte> along, const End& end);
  // An end of a transfer that is no ZeroCopyBuffer.
  End posted_end(std::span<std::byte> memory, ZeroCopyCallback done, std::uint64_t reference);
  [[noreturn]] void refuse(const std::string& call, const std::string& what) const;

 private:
  Engine& engine_;
  Slots& slots_;
  Ends& ends_;
  const Rank me_;
  const std::uint32_t size_;
  // Owned by the bundle's thread.
  std::vector<ZeroCopy::HandlerEntry> handlers_;
  TagMatch by_tag_;
};

}  // namespace am::zero_copy
