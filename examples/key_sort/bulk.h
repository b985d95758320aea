#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "examples/key_sort/plan.h"

namespace key_sort {

// Between nodes a store of so many keys is one packet, which is sent together with others. A longer
// one waits until the network has taken it, which a put does not; but every put is answered.
inline constexpr std::size_t kLongestStore = 4096 / sizeof(Key);

// Puts the keys of one bucket where the plan wants them, in one piece, or in two where the places
// go on at the next process.
inline void put_bucket(std::span<const Key> keys, Place place, const Plan& plan, Keys& to) {
  while (!keys.empty()) {
    const auto piece = keys.first(std::min<std::uint64_t>(keys.size(), plan.block - place.index));
    if (piece.size() <= kLongestStore) {
      splitc::bulk_store(at(to, place), piece);
    } else {
      splitc::bulk_put(at(to, place), piece);
    }
    plan.advance(place, static_cast<std::uint32_t>(piece.size()));
    keys = keys.subspan(piece.size());
  }
}

// Sorts the keys by bucket into `sorted`, which is as long, and then puts each bucket where the
// plan wants it. Every byte moves twice, and once between processes, as what arrives is in place.
template <class BucketOf>
void exchange_in_bulk(std::span<const Key> keys, const BucketOf& bucket_of, Plan& plan, Keys& to,
                      std::span<Key> sorted) {
  const std::size_t buckets = plan.counts.size();
  std::vector<std::uint32_t> end(buckets);
  std::exclusive_scan(plan.counts.begin(), plan.counts.end(), end.begin(), 0u);
  for (std::size_t i = 0; i < keys.size(); ++i) sorted[end[bucket_of(i)]++] = keys[i];

  const std::size_t first = buckets * splitc::my_proc() / splitc::procs();
  for (std::size_t i = 0; i < buckets; ++i) {
    const std::size_t bucket = (first + i) % buckets;  // not all to the same process at first
    const std::uint32_t count = plan.counts[bucket];
    put_bucket(sorted.subspan(end[bucket] - count, count), plan.places[bucket], plan, to);
  }
  splitc::all_store_sync();  // the puts, too
}

}  // namespace key_sort
