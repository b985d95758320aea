#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "am/link/link.h"
#include "am/types/types.h"
#include "am/zero_copy/types.h"

// Keys of registered buffers that stay valid between transfers. The owner of a buffer hands its key
// out with the end of a transfer; from then on the other process reads and writes by itself. When
// the registration is to end, the owner asks for the keys back, and keeps it until it has them all:
//
//   owner                                          holder
//     key of (slot, generation)  ------------->      Grants::keep(), then use() and release()
//     LentKeys::retire(), and asks  ---------->      Grants::revoke(): not in use? answers at once
//     LentKeys::returned()  <------------------      ... else when the last use ends: release()

namespace am::zero_copy {

// Names a buffer of another process, as in the ZeroCopyInfo that this one has received.
struct GrantName {
  Rank rank;
  std::uint32_t slot;
  std::uint32_t generation;
  static GrantName of(const ZeroCopyInfo& info) noexcept {
    return {info.rank, info.slot, info.generation};
  }
  auto operator<=>(const GrantName&) const = default;
};

// The keys that this process holds.
//
// Pure logic. Thread rule: one thread at a time.
class Grants {
 public:
  void keep(const GrantName& name, const link::RemoteKey& key) { held_[name].key = key; }
  // The key for one access, until release(). Nothing: there is none, or it is asked back.
  std::optional<link::RemoteKey> use(const GrantName& name) noexcept {
    const auto found = held_.find(name);
    if (found == held_.end() || found->second.asked != 0) return std::nullopt;
    ++found->second.uses;
    return found->second.key;
  }
  // The access is complete. How many times to notify the owner: if this was the last use, as often
  // as it has asked for the key meanwhile. (More than once where it registered the buffer again,
  // handed out the new key, and ended that registration, too.)
  [[nodiscard]] std::uint32_t release(const GrantName& name) noexcept {
    const auto found = held_.find(name);
    const std::uint32_t asked = found->second.asked;
    if (--found->second.uses != 0 || asked == 0) return 0;
    held_.erase(found);
    return asked;
  }
  // The owner asks for the key. True: it is not in use, notify the owner at once. False: release()
  // says so after the last use.
  [[nodiscard]] bool revoke(const GrantName& name) noexcept {
    const auto found = held_.find(name);
    if (found == held_.end()) return true;
    if (found->second.uses != 0) {
      ++found->second.asked;
      return false;
    }
    held_.erase(found);
    return true;
  }
  std::size_t size() const noexcept { return held_.size(); }

 private:
  struct Held {
    link::RemoteKey key{};
    std::uint32_t uses = 0;   // accesses in flight
    std::uint32_t asked = 0;  // times that the owner has asked for it and not been answered
  };

  std::map<GrantName, Held> held_;
};

// The registrations of this process that are to end when their keys have come back.
//
// Pure logic. Thread rule: one thread at a time.
class LentKeys {
 public:
  // `registration`, if it is not nullptr, ends when so many holders have returned its key.
  void retire(std::uint32_t slot, std::uint32_t generation, std::size_t holders,
              std::shared_ptr<link::Registration> registration) {
    retired_.push_back({std::move(registration), slot, generation, holders});
  }
  // One of them has.
  void returned(std::uint32_t slot, std::uint32_t generation) noexcept {
    const auto found = std::ranges::find_if(retired_, [&](const Retired& one) {
      return one.slot == slot && one.generation == generation;
    });
    if (found != retired_.end() && --found->holders == 0) retired_.erase(found);
  }
  std::size_t size() const noexcept { return retired_.size(); }

 private:
  struct Retired {
    std::shared_ptr<link::Registration> registration;
    std::uint32_t slot;
    std::uint32_t generation;
    std::size_t holders;  // that have not returned it
  };

  std::vector<Retired> retired_;
};

}  // namespace am::zero_copy
