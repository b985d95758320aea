// Where the keys of this process go, decided by all processes from how many keys each has for what.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/keys/keys.h"
#include "splitc/splitc.h"

namespace key_sort {

using Key = sort_key;
// A block for each process, of which the first keys are in use.
using Keys = splitc::spread_array<Key>;

struct Place {
  std::uint32_t proc;
  std::uint32_t index;  // in that process's block
};
inline splitc::global_ptr<Key> at(const Keys& keys, const Place& place) {
  return keys.on(place.proc) + static_cast<std::ptrdiff_t>(place.index);
}

// Keys are put into buckets. All keys of a bucket, those of process 0 first, go to places that
// follow one another, as do the buckets.
struct Plan {
  // Keys that come from one process, and stay together.
  struct Arrival {
    std::uint32_t proc;
    std::uint32_t count;
  };

  std::vector<std::uint32_t> counts;  // keys of this process in each bucket
  std::vector<Place> places;          // of the first of them
  std::uint64_t block = 0;            // places of a process, after which come those of the next one
  std::uint64_t received = 0;         // keys that come here
  std::uint64_t most = 0;             // that come to any process
  std::vector<Arrival> arrivals;      // here, in order of their places

  // Moves on to the place behind `count` others of the same process.
  void advance(Place& place, std::uint32_t count) const noexcept {
    place.index += count;
    if (place.index == block) place = {place.proc + 1, 0};
  }
  // Calls use(place, count) for the keys of this process in `bucket`: once, or, where their places
  // go on at the next process, for what each of them gets.
  template <class Use>
  void for_each_part(std::size_t bucket, Use&& use) const {
    Place place = places[bucket];
    for (std::uint32_t left = counts[bucket]; left > 0;) {
      const auto count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(left, block - place.index));
      use(place, count);
      advance(place, count);
      left -= count;
    }
  }
};

// Each process gets `size` keys: those of the lowest buckets process 0, and so on. Buckets may
// begin on one process and end on another. Collective.
Plan plan_of_equal_parts(std::vector<std::uint32_t> counts, std::uint64_t size);
// Each process gets all keys of one bucket: there are as many. Collective.
Plan plan_of_buckets(std::vector<std::uint32_t> counts);

}  // namespace key_sort
