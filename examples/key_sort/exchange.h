// The step that both sorts consist of: every process puts each of its keys into a bucket, and all
// keys go to where their buckets have their places. The versions of this program differ in it only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "examples/key_sort/aggregator.h"
#include "examples/key_sort/blocks.h"
#include "examples/key_sort/bulk.h"
#include "examples/key_sort/messages.h"
#include "examples/key_sort/plan.h"

namespace key_sort {

enum class Version : std::uint8_t { kMessages, kBulk, kBlocks, kAggregator };
inline constexpr std::array<const char*, 4> kVersionNames{"messages", "bulk", "blocks",
                                                          "aggregator"};

// Memory of a sort, which is kept for the next one: two arrays, of which one is read while the
// other is written, and a place to group keys in.
class Room {
 public:
  // For sorts of `size` keys of each process. Collective.
  explicit Room(std::uint64_t size) {
    reserve(size);
    grouped_ = std::make_unique<Keys>(splitc::procs(), size + 1);
  }

  // Makes room for `capacity` keys of each process in both arrays, where there is less; what was in
  // them is then lost. Collective.
  void reserve(std::uint64_t capacity) {
    if (capacity <= capacity_ && arrays_[0]) return;
    capacity_ = capacity;
    for (auto& array : arrays_) {
      array.reset();
      array = std::make_unique<Keys>(splitc::procs(), capacity + 1);  // no array is empty
    }
  }
  Keys& array(int which) const noexcept { return *arrays_[which]; }
  std::span<Key> grouped() const noexcept { return grouped_->mine(); }

 private:
  std::uint64_t capacity_ = 0;
  std::array<std::unique_ptr<Keys>, 2> arrays_;
  std::unique_ptr<Keys> grouped_;
};

// Sends keys[i], for all i, to where `plan` has the next place of bucket_of(i), in array `which` of
// `room`; what was in the other one may be lost. Collective: when it returns all keys of all
// processes are there.
template <class BucketOf>
void exchange(Version version, std::span<const Key> keys, const BucketOf& bucket_of, Plan plan,
              Room& room, int which) {
  Keys& to = room.array(which);
  switch (version) {
    case Version::kMessages: return exchange_by_messages(keys, bucket_of, plan, to);
    case Version::kBulk: return exchange_in_bulk(keys, bucket_of, plan, to, room.grouped());
    case Version::kBlocks:
      return exchange_in_blocks(keys, bucket_of, plan, to, room.grouped(),
                                room.array(1 - which).mine());
    case Version::kAggregator: return exchange_by_aggregator(keys, bucket_of, plan, to);
  }
}

}  // namespace key_sort
