#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "splitc/splitc.h"

namespace containers {

// The numbers 0 to n - 1, in sets that processes unite: union-find over all processes.
//
//   disjoint_sets sets(n);                                  // collective: each number is a set
//   sets.unite(my_edges);                                   // all processes at the same time
//   splitc::barrier();
//   sets.find(7) == sets.find(8)                            // are they in the same set?
//   const std::vector<std::uint64_t> names = sets.find(my_numbers);
//   std::uint64_t n = sets.count();                         // collective
//
//   call                        collective   done            cost, where some are on other nodes
//   construction, destruction   yes          on return       a barrier
//   unite                       no           on return       a few round trips for each 1,024 pairs
//   find(numbers)               no           on return       a few round trips for all
//   find(number), connected     no           on return       the same for one
//   count                       yes          on return       a barrier and a reduction
//
// On one node a round trip is a load. find() gives the least number of the set: that of a moment
// during the call, while others unite; behind a barrier() the same everywhere.
//
// Numbers that are not below n are an Error. Thread rule: the world's thread, outside handlers.
class disjoint_sets {
 public:
  using Id = std::uint64_t;
  struct Pair {
    Id a, b;
  };

  explicit disjoint_sets(std::size_t n) : parent_(n, splitc::blocked) {
    for (const std::size_t i : parent_.my_indices()) parent_.mine()[parent_.local(i)] = i;
    splitc::barrier();
  }
  std::size_t size() const { return parent_.size(); }

  // Makes one set of those of a and b, for each pair.
  void unite(std::span<const Pair> pairs) {
    constexpr std::size_t kTogether = 1024;
    while (!pairs.empty()) {
      const auto some = pairs.first(std::min(kTogether, pairs.size()));
      unite_together({some.begin(), some.end()});
      pairs = pairs.subspan(some.size());
    }
  }
  void unite(Id a, Id b) { unite_together({{a, b}}); }

  // The name of the set of each number.
  std::vector<Id> find(std::span<const Id> numbers) const {
    std::vector<Id> roots(numbers.begin(), numbers.end());
    to_roots(roots);
    return roots;
  }
  Id find(Id number) const {
    to_roots({&number, 1});
    return number;
  }
  // Behind a barrier().
  bool connected(Id a, Id b) const { return find(a) == find(b); }

  // How many sets there are.
  std::uint64_t count() const {
    splitc::barrier();
    std::uint64_t mine = 0;
    for (const std::size_t i : parent_.my_indices()) mine += parent_.mine()[parent_.local(i)] == i;
    return splitc::all_reduce(mine, std::plus());
  }

 private:
  // Sets are trees of numbers that point to lesser ones, their parents; the root points to itself.
  // A parent is only ever exchanged for a lesser one of the same set, by fetch_and_min(), which
  // tells what it was. So everybody may do so at the same time, and there are no cycles.
  //
  // The root of one tree gets that of the other as its parent. If it was no root any more, its
  // parent of before and the new one, of which the lesser remains, are still to be united.
  void unite_together(std::vector<Pair> open) {
    while (!open.empty()) {
      std::vector<Id> roots;
      for (const Pair& pair : open) roots.insert(roots.end(), {pair.a, pair.b});
      to_roots(roots);
      open.clear();
      for (std::size_t i = 0; i < roots.size(); i += 2) {
        const auto [low, high] = std::minmax(roots[i], roots[i + 1]);
        if (low != high) open.push_back({low, high});
      }
      std::vector<Id> before(open.size());
      for (std::size_t i = 0; i < open.size(); ++i) {
        splitc::start_fetch_and_min(before[i], parent_.pointer(open[i].b), open[i].a);
      }
      splitc::sync();
      for (std::size_t i = 0; i < open.size(); ++i) {
        open[i].b = before[i] == open[i].b ? open[i].a : before[i];
      }
      std::erase_if(open, [](const Pair& pair) { return pair.a == pair.b; });
    }
  }

  // Before anything is read into memory that an Error would take away.
  void check(std::span<const Id> numbers) const {
    for (const Id number : numbers) {
      if (number >= size()) static_cast<void>(parent_.pointer(number));  // throws
    }
  }

  // Takes each of `at` to the root of its tree, all together, two steps at a time. On the way every
  // number is pointed to its parent's parent, so the next to go there has half as far.
  void to_roots(std::span<Id> at) const {
    check(at);
    std::vector<std::size_t> on_way(at.size());
    std::iota(on_way.begin(), on_way.end(), std::size_t{0});
    std::vector<Id> parent(at.size()), next(at.size());
    while (!on_way.empty()) {
      for (const std::size_t i : on_way) splitc::get(parent[i], parent_[at[i]]);
      splitc::sync();
      std::erase_if(on_way, [&](std::size_t i) { return parent[i] == at[i]; });
      for (const std::size_t i : on_way) splitc::get(next[i], parent_[parent[i]]);
      splitc::sync();
      for (const std::size_t i : on_way) {
        if (next[i] != parent[i]) splitc::start_fetch_and_min(parent_.pointer(at[i]), next[i]);
        at[i] = next[i];
      }
      std::erase_if(on_way, [&](std::size_t i) { return next[i] == parent[i]; });
    }
    splitc::sync();
  }

  splitc::spread_array<Id> parent_;
};

}  // namespace containers
