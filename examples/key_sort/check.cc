#include "examples/key_sort/check.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "examples/keys/digest.h"

namespace key_sort {
namespace {

using namespace splitc;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("process " + std::to_string(my_proc()) + ": " + what);
}

// Whether a process has any keys, and its least one.
struct First {
  bool any;
  Key key;
};

}  // namespace

Census all_count(std::span<const Key> mine) {
  return {all_reduce<std::uint64_t>(mine.size(), std::plus()),
          all_reduce(multiset_hash(mine.data(), mine.size()), std::plus())};
}

std::uint64_t all_check(std::span<const Key> mine, const Census& before) {
  if (!std::ranges::is_sorted(mine)) fail("two of its keys are in the wrong order");
  const First first = mine.empty() ? First{} : First{true, mine.front()};
  const std::vector<First> firsts = all_gather(first);
  for (std::uint32_t proc = my_proc() + 1; proc < procs() && !mine.empty(); ++proc) {
    if (firsts[proc].any && firsts[proc].key < mine.back()) {
      fail("its last key belongs behind the first one of process " + std::to_string(proc));
    }
  }
  if (all_count(mine) != before) fail("the sorted keys are not those that were to be sorted");
  const std::uint64_t number = all_exscan<std::uint64_t>(mine.size(), std::plus(), 0);
  return all_reduce(order_digest(mine.data(), mine.size(), number), std::plus());
}

std::uint64_t digest_by_one(const key_distribution& distribution, const sort_problem& problem) {
  std::vector<Key> all(problem.procs * problem.size);
  for (std::uint32_t proc = 0; proc < problem.procs; ++proc) {
    make_keys(&distribution, &problem, proc, all.data() + proc * problem.size);
  }
  std::ranges::sort(all);
  return order_digest(all.data(), all.size(), 0);
}

}  // namespace key_sort
