#pragma once

#include <span>
#include <vector>

#include "examples/key_sort/group.h"
#include "examples/key_sort/plan.h"

namespace key_sort {

// Between nodes a store of so many keys is one packet, which is sent together with others. A longer
// one waits until the network has taken it, which a put does not; but every put is answered.
inline constexpr std::size_t kLongestStore = 4096 / sizeof(Key);

// Puts the keys of one bucket where the plan wants them.
inline void put_bucket(std::span<const Key> keys, std::size_t bucket, const Plan& plan, Keys& to) {
  plan.for_each_part(bucket, [&](const Place& place, std::uint32_t count) {
    if (count <= kLongestStore) {
      splitc::bulk_store(at(to, place), keys.first(count));
    } else {
      splitc::bulk_put(at(to, place), keys.first(count));
    }
    keys = keys.subspan(count);
  });
}

// Sorts the keys by bucket into `grouped`, which is as long, and then puts each bucket where the
// plan wants it. Every byte moves twice, and once between processes, as what arrives is in place.
template <class BucketOf>
void exchange_in_bulk(std::span<const Key> keys, const BucketOf& bucket_of, const Plan& plan,
                      Keys& to, std::span<Key> grouped) {
  const std::vector<std::uint32_t> end = group(keys, bucket_of, plan, grouped);
  const std::size_t buckets = plan.counts.size();
  const std::size_t first = buckets * splitc::my_proc() / splitc::procs();
  for (std::size_t i = 0; i < buckets; ++i) {
    const std::size_t bucket = (first + i) % buckets;  // not all to the same process at first
    const std::uint32_t count = plan.counts[bucket];
    put_bucket(grouped.subspan(end[bucket] - count, count), bucket, plan, to);
  }
  splitc::all_store_sync();  // the puts, too
}

}  // namespace key_sort
