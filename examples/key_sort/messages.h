#pragma once

#include <span>

#include "examples/key_sort/plan.h"

namespace key_sort {

// Stores each key by itself where the plan wants it. The simplest way: between nodes each key is a
// message of its own, of which the library sends many in one packet.
template <class BucketOf>
void exchange_by_messages(std::span<const Key> keys, const BucketOf& bucket_of, Plan& plan,
                          Keys& to) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Place& place = plan.places[bucket_of(i)];
    splitc::store(at(to, place), keys[i]);
    plan.advance(place, 1);
  }
  splitc::all_store_sync();
}

}  // namespace key_sort
