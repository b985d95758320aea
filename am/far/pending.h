#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "am/link/in_flight.h"
#include "am/link/link.h"
#include "am/route/router.h"
#include "am/table/sparse_table.h"
#include "am/types/object_pool.h"
#include "am/types/types.h"

namespace am {

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
