#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "examples/key_sort/plan.h"

namespace key_sort {

// Sorts the keys by bucket into `grouped`, which is as long; those of a bucket stay in order.
// Returns the end of each bucket there. bucket_of is a copy, which no store to a key can change.
template <class BucketOf>
std::vector<std::uint32_t> group(std::span<const Key> keys, BucketOf bucket_of, const Plan& plan,
                                 std::span<Key> grouped) {
  std::vector<std::uint32_t> end(plan.counts.size());
  std::exclusive_scan(plan.counts.begin(), plan.counts.end(), end.begin(), 0u);
  for (std::size_t i = 0; i < keys.size(); ++i) grouped[end[bucket_of(i)]++] = keys[i];
  return end;
}

}  // namespace key_sort
