#include "examples/key_sort/sorts.h"
#include "examples/keys/local_sort.h"
#include "examples/keys/splitters.h"

namespace key_sort {
namespace {

using namespace splitc;

// Of all processes; each chooses the same. Collective.
std::vector<tagged_key> all_splitters(std::span<const Key> keys, std::uint64_t first) {
  std::vector<tagged_key> mine(number_of_samples(keys.size())), all(mine.size() * procs());
  take_samples(keys.data(), keys.size(), first, mine.data());
  all_gather(std::span(mine), std::span(all));
  std::vector<tagged_key> splitters(procs() - 1);
  choose_splitters(all.data(), all.size(), procs(), splitters.data());
  return splitters;
}

}  // namespace

std::span<const Key> sample_sort(std::span<const Key> keys, Version version, Room& room) {
  const std::uint64_t first = std::uint64_t{my_proc()} * keys.size();
  const std::vector<tagged_key> splitters = all_splitters(keys, first);
  const auto owner = [keys, first, cuts = splitters.data(), count = procs() - 1](std::size_t i) {
    return part_with(cuts, count, tag_key(keys[i], first + i));
  };
  std::vector<std::uint32_t> counts(procs());
  for (std::size_t i = 0; i < keys.size(); ++i) ++counts[owner(i)];
  Plan plan = plan_of_buckets(std::move(counts));
  const std::uint64_t received = plan.received;
  room.reserve(plan.most);
  exchange(version, keys, owner, std::move(plan), room, 0);
  Key* const sorted =
      sort_locally(room.array(0).mine().data(), room.array(1).mine().data(), received);
  return {sorted, received};
}

}  // namespace key_sort
