#pragma once

#include <span>

#include "examples/key_sort/plan.h"

namespace key_sort {

// Sends each key with the index of its place to the process of that, in blocks of many for one
// process, which puts each into its place. As simple to write as messages; twice the bytes.
template <class BucketOf>
void exchange_by_aggregator(std::span<const Key> keys, const BucketOf& bucket_of, Plan& plan,
                            Keys& to) {
  struct Mine {
    std::span<Key> keys;
  };
  struct Update {
    std::uint32_t index;
    Key key;
  };
  splitc::dist_object<Mine> mine(Mine{to.mine()});
  auto aggregator = splitc::aggregate<Update>(
      mine, [](const Mine& here, const Update& update) { here.keys[update.index] = update.key; });
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Place& place = plan.places[bucket_of(i)];
    aggregator.send(place.proc, {place.index, keys[i]});
    plan.advance(place, 1);
  }
  aggregator.flush_all();
}

}  // namespace key_sort
