#pragma once

#include <cstdint>
#include <span>

#include "examples/key_sort/plan.h"

namespace key_sort {

// What sorting keeps of the keys of all processes.
struct Census {
  std::uint64_t keys;
  std::uint64_t hash;  // of the multiset

  friend bool operator==(const Census&, const Census&) = default;
};
Census all_count(std::span<const Key> mine);  // collective

// Throws a sentence unless the keys of all processes, of which `mine` are this one's, are in order
// from the first of process 0 to the last of the last, and are those that `before` counted. Returns
// the digest of their order, in every process. Collective.
std::uint64_t all_check(std::span<const Key> mine, const Census& before);

// What all_check() returns if all is right, by std::sort of the keys of all processes in this one.
std::uint64_t digest_by_one(const key_distribution& distribution, const sort_problem& problem);

}  // namespace key_sort
