#include "examples/key_sort/plan.h"

#include <algorithm>

namespace key_sort {
namespace {

using namespace splitc;
using Counts = std::vector<std::uint32_t>;

// Calls use(bucket, proc, count) for the keys of every process in every bucket, in the order in
// which they are to be. Collective.
template <class Use>
void for_each_count(const Counts& counts, Use&& use) {
  Counts all(counts.size() * procs());
  all_gather(std::span(counts), std::span(all));
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      use(bucket, proc, all[proc * counts.size() + bucket]);
    }
  }
}

}  // namespace

Plan plan_of_equal_parts(Counts counts, std::uint64_t size) {
  Plan plan{std::move(counts), {}, size, size, size, {}};
  plan.places.resize(plan.counts.size());
  const std::uint64_t first = my_proc() * size, last = first + size;
  std::uint64_t number = 0;
  for_each_count(plan.counts, [&](std::size_t bucket, std::uint32_t proc, std::uint32_t count) {
    if (proc == my_proc() && count > 0) {
      plan.places[bucket] = {static_cast<std::uint32_t>(number / size),
                             static_cast<std::uint32_t>(number % size)};
    }
    const std::uint64_t begin = std::max(number, first);
    number += count;
    if (const std::uint64_t end = std::min(number, last); begin < end) {
      plan.arrivals.push_back({proc, static_cast<std::uint32_t>(end - begin)});
    }
  });
  return plan;
}

Plan plan_of_buckets(Counts counts) {
  Plan plan{std::move(counts), {}, 0, 0, 0, {}};
  plan.places.resize(plan.counts.size());
  std::uint64_t before = 0;
  for_each_count(plan.counts, [&](std::size_t bucket, std::uint32_t proc, std::uint32_t count) {
    if (proc == 0) before = 0;
    if (proc == my_proc()) {
      plan.places[bucket] = {static_cast<std::uint32_t>(bucket),
                             static_cast<std::uint32_t>(before)};
    }
    before += count;
    plan.most = std::max(plan.most, before);
    if (bucket != my_proc()) return;
    plan.received = before;
    plan.arrivals.push_back({proc, count});
  });
  plan.block = plan.most + 1;  // no bucket goes on at another process
  return plan;
}

}  // namespace key_sort
