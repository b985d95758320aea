#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "splitc/splitc.h"

namespace containers {

// Items in no order, anywhere: each process keeps some.
//
//   distributed_bag<Particle> bag;                          // collective
//   bag.add(particle);                                      // somewhere
//   bag.add_here(other);
//   bag.quiesce();                                          // collective: all are in it
//   bag.balance();                                          // collective: as many everywhere
//   bag.for_all([](Particle& p) { p.move(); });             // those kept here
//
//   call                        collective   visible             cost
//   construction, destruction   yes                              a barrier
//   add                         no           after quiesce()     a few ns, sent in blocks
//   add_here                    no           at once, here       that of a vector
//   quiesce                     yes                              a barrier
//   size                        yes                              a reduction
//   balance                     yes          on return           two collective calls, and each
//                                                                item that must move does so once
//   for_all, mine               no                               none: local
//
// size(), balance(), for_all() and mine() come behind quiesce(), if add() was used. Item is
// trivially copyable, without addresses. Thread rule: the world's thread, outside handlers.
template <class Item>
class distributed_bag {
 public:
  // Dealt to the processes in turn, each process beginning with itself.
  void add(const Item& item) {
    adds_.send(next_, item);
    next_ = (next_ + 1) % splitc::procs();
  }
  void add_here(const Item& item) { items_->push_back(item); }
  void quiesce() { adds_.flush_all(); }

  // The items of all processes.
  std::uint64_t size() const {
    return splitc::all_reduce(static_cast<std::uint64_t>(items_->size()), std::plus());
  }
  // Afterwards every process has size() / procs() items, the first size() % procs() one more. Those
  // that have too many give to those that have too few, both in the order of the processes.
  void balance() {
    const std::vector<std::uint64_t> counts = splitc::all_gather(std::uint64_t{items_->size()});
    std::uint64_t all = 0, before = 0;  // `before`: surplus items of the processes before this
    for (const std::uint64_t count : counts) all += count;
    const auto share = [&](std::uint32_t p) {
      return all / splitc::procs() + (p < all % splitc::procs() ? 1 : 0);
    };
    const std::uint32_t me = splitc::my_proc();
    for (std::uint32_t p = 0; p < me; ++p) before += counts[p] - std::min(counts[p], share(p));
    if (counts[me] > share(me)) give(before, counts, share);
    splitc::quiesce();
  }

  // Calls f(item), with an Item&, for those that this process keeps. f may not wait.
  template <class F>
  void for_all(F f) {
    for (Item& item : *items_) f(item);
  }
  // The same as memory, until the bag is changed.
  std::span<Item> mine() { return *items_; }

 private:
  using Items = std::vector<Item>;
  struct Put {
    void operator()(Items& items, const Item& item) const { items.push_back(item); }
  };

  // Surplus items of all processes, one behind the other, fill what others lack, one behind the
  // other. Those of this process are `first` and following ones.
  template <class Share>
  void give(std::uint64_t first, std::span<const std::uint64_t> counts, Share share) {
    std::span<const Item> surplus = mine().subspan(share(splitc::my_proc()));
    const std::uint64_t end = first + surplus.size();
    std::uint64_t from = 0;  // where what the process lacks begins
    for (std::uint32_t p = 0; p < splitc::procs() && from < end; ++p) {
      const std::uint64_t to = from + share(p) - std::min(counts[p], share(p));
      const std::uint64_t n =
          std::min(to, end) - std::min(std::max(from, first), std::min(to, end));
      if (n != 0) splitc::rpc_ff(p, &append, items_, surplus.first(n));
      surplus = surplus.subspan(n);
      from = to;
    }
    items_->resize(share(splitc::my_proc()));
  }
  static void append(Items& items, std::span<const Item> more) {
    items.insert(items.end(), more.begin(), more.end());
  }

  splitc::dist_object<Items> items_;
  splitc::aggregator<Item, Items, Put> adds_{items_, Put()};
  std::uint32_t next_ = splitc::my_proc();
};

}  // namespace containers
