#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "examples/key_sort/group.h"
#include "examples/key_sort/plan.h"

namespace key_sort {

// Copies what has come, that of process 0 first, of each process from_each keys, to `to` in the
// order of the plan's places.
inline void put_in_place(std::span<const Key> arrived, std::span<const std::size_t> from_each,
                         const Plan& plan, std::span<Key> to) {
  std::vector<std::size_t> next(from_each.size());  // key of each process, in `arrived`
  std::exclusive_scan(from_each.begin(), from_each.end(), next.begin(), std::size_t{0});
  auto place = to.begin();
  for (const auto& [proc, count] : plan.arrivals) {
    place = std::copy_n(arrived.begin() + static_cast<std::ptrdiff_t>(next[proc]), count, place);
    next[proc] += count;
  }
}

// Sorts the keys by bucket into `grouped`, where those for one process are then one block, sends
// each process its block, and sorts what comes, in `arrived`, again. Every byte moves three times;
// but there are few messages, which pays where one is dear. `arrived` may be the memory of `keys`.
template <class BucketOf>
void exchange_in_blocks(std::span<const Key> keys, const BucketOf& bucket_of, const Plan& plan,
                        Keys& to, std::span<Key> grouped, std::span<Key> arrived) {
  group(keys, bucket_of, plan, grouped);
  std::vector<std::size_t> to_each(splitc::procs()), from_each(splitc::procs());
  for (std::size_t bucket = 0; bucket < plan.counts.size(); ++bucket) {
    plan.for_each_part(
        bucket, [&](const Place& place, std::uint32_t count) { to_each[place.proc] += count; });
  }
  splitc::all_to_all_varying(grouped.first(keys.size()), to_each, arrived, from_each);
  put_in_place(arrived, from_each, plan, to.mine());
}

}  // namespace key_sort
