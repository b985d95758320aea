// What packets of accesses have in common: small accesses that share one, packets that may still
// grow, and operations that wait for the packet which answers them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "am/link/in_flight.h"
#include "am/link/link.h"
#include "am/route/router.h"
#include "am/table/sparse_table.h"
#include "am/types/clock.h"
#include "am/types/object_pool.h"
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

// An operation that another process carries out, until its answer has come.
struct Pending {
  Rank peer = 0;
  link::Completion* completion = nullptr;  // nullptr: this one is free
  std::uint64_t name = 0;  // in packets: its number in the pool, and how often it was used
};

// Those of one kind, and how many of them there may be. What a packet answers is known by its name:
// one that has ended, or never was, is not found.
//
// T is a Pending, and its other members are as the last user left them. Thread rule: the link's.
template <class T>
class PendingPool {
 public:
  PendingPool(const Router& router, const link::InFlight::Limits& limits)
      : router_(router), in_flight_(limits), shares_(router.size()) {}

  bool idle() const noexcept { return pool_.in_use() == 0; }
  bool idle(Rank peer) const noexcept { return shares_[peer].in_flight == 0; }

  // nullptr: there are as many as may be.
  T* take(Rank peer, link::Completion& completion) {
    link::InFlight::Share& share = shares_[peer];
    if (!in_flight_.available(share) || pool_.in_use() == kNumbers) return nullptr;
    T& taken = pool_.take([](T& made, std::uint32_t number) { made.name = number; });
    in_flight_.take(share);
    taken.peer = peer;
    taken.completion = &completion;
    taken.name += kNumbers;
    return &taken;
  }
  // That of a packet which this process has made.
  T& operator[](std::uint64_t name) noexcept {
    return pool_[static_cast<std::uint32_t>(name % kNumbers)];
  }
  // That of a packet which has come from `from`; nullptr: there is none.
  T* find(Rank from, std::uint64_t name) noexcept {
    if (name % kNumbers >= pool_.size()) return nullptr;
    T& one = (*this)[name];
    return one.completion != nullptr && one.peer == from && one.name == name ? &one : nullptr;
  }
  void end(T& one) {
    link::Completion& completion = *std::exchange(one.completion, nullptr);
    in_flight_.give_back(shares_[one.peer]);
    pool_.give_back(one);
    link::complete(completion);
  }
  // Those which processes were to carry out that have died.
  std::vector<T*> of_dead() {
    std::vector<T*> dead;
    for (std::uint32_t number = 0; number < pool_.size() && !idle(); ++number) {
      T& one = pool_[number];
      if (one.completion != nullptr && router_.is_dead(one.peer)) dead.push_back(&one);
    }
    return dead;
  }

 private:
  static constexpr std::uint32_t kNumbers = 1 << 16;

  const Router& router_;
  ObjectPool<T> pool_;
  link::InFlight in_flight_;
  SparseTable<link::InFlight::Share> shares_;  // by rank
};

}  // namespace am
