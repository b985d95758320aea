#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "am/link/link.h"
#include "am/table/sparse_table.h"
#include "am/types/clock.h"
#include "am/types/types.h"

namespace am {

// Writes a store or put of 1 to 8 bytes as packets have it: whole words, so that
// reading one back at once does not wait for narrower stores.
inline void write_small(std::byte* at, std::uint64_t offset,
                        std::span<const std::byte> data) noexcept {
  std::uint64_t word = 0;
  if (data.size() == sizeof word) [[likely]] {
    std::memcpy(&word, data.data(), sizeof word);
  } else {
    std::memcpy(&word, data.data(), data.size());
  }
  std::memcpy(at + offsetof(link::SmallStore, offset), &offset, sizeof offset);
  std::memcpy(at + offsetof(link::SmallStore, data), &word, sizeof word);
}

// What stands behind the header of a packet of small stores, puts or gets. Empty: it is damaged.
template <class Item, class Packet>
std::span<const Item> items_of(const Packet& packet) noexcept {
  const std::size_t bytes = packet.head.bytes - sizeof packet;
  const std::uint8_t each = packet.head.detail;
  if (each == 0 || each > sizeof link::SmallStore::data || bytes % sizeof(Item) != 0) return {};
  return {reinterpret_cast<const Item*>(&packet + 1), bytes / sizeof(Item)};
}

// The packets that were committed last to each process and may still grow, so that small accesses
// which come in a row share one.
//
// Thread rule: that of the link.
class Tails {
 public:
  Tails(link::Link& link, std::uint32_t processes) : link_(link), tails_(processes) {}

  // Commits the packet that was claimed for `to`; more of its kind may join.
  void commit(Rank to) { tails_[to] = link_.commit(to, link::Next::kSame); }

  // Nothing joins what was committed to it.
  void forget(Rank to) { tails_[to] = nullptr; }

  // The packet of that type and detail, if it can take `bytes` more and need not leave yet.
  // nullptr: begin another. Next comes grow().
  [[gnu::always_inline]] link::PacketHeader* find(Rank to, link::Type type, std::uint8_t detail,
                                                  std::uint32_t bytes) {
    link::Tail* const tail = tails_[to];
    if (tail == nullptr || tail->packet == nullptr || tail->room < bytes) return nullptr;
    auto& packet = *reinterpret_cast<link::PacketHeader*>(tail->packet);
    if (packet.type != type || packet.detail != detail) return nullptr;
    // A clock costs as much as all else here. After as many as there are already: so the few of a
    // program that computes between them do not wait for many.
    if (packet.bytes >= tail->look_at) {
      if (ticks() > tail->until) return nullptr;
      tail->look_at = packet.bytes + std::min<std::uint32_t>(packet.bytes, kLooksAfter * bytes);
    }
    return &packet;
  }
  // So many bytes more of what find() has returned; to be written.
  [[gnu::always_inline]] std::byte* grow(Rank to, std::uint32_t bytes) noexcept {
    link::Tail& tail = *tails_[to];
    auto& packet = *reinterpret_cast<link::PacketHeader*>(tail.packet);
    std::byte* const at = tail.packet + packet.bytes;
    packet.bytes = static_cast<std::uint16_t>(packet.bytes + bytes);
    tail.room -= bytes;
    *tail.bytes += bytes;
    ++*tail.commits;
    return at;
  }

 private:
  static constexpr std::uint32_t kLooksAfter = 32;  // accesses, at most

  link::Link& link_;
  SparseTable<link::Tail*> tails_;  // by rank; nullptr: none so far
};

}  // namespace am
