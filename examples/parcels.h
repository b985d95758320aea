// Small items for any process, in rounds: each process fills a parcel for every other, and in a
// round all exchange theirs.
//
//   examples::Parcels parcels(64 << 10);
//   for (const Item& item : items) {
//     if (parcels.is_full<Item>(owner(item))) parcels.exchange<Item>(true, apply);
//     parcels.add(owner(item), item);
//   }
//   while (parcels.exchange<Item>(false, apply)) {}
//
// A receiver waits for as many bytes as the announced sizes say. So there is no barrier, and no
// process waits for one that is late only in sending to others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "splitc/splitc.h"

namespace examples {

class Parcels {
 public:
  // Of so many bytes each, a multiple of 8. Collective.
  explicit Parcels(std::size_t bytes)
      : words_(bytes / sizeof(Word)),
        filled_(splitc::procs() * words_),
        sizes_(splitc::procs()),
        arrived_(splitc::procs(), 2 * splitc::procs() * words_),
        announced_(splitc::procs(), 2 * splitc::procs()) {}

  // Of a parcel.
  template <class Item>
  std::size_t room() const {
    return words_ * sizeof(Word) / sizeof(Item);
  }
  template <class Item>
  bool is_full(std::uint32_t to) const {
    return sizes_[to] == room<Item>();
  }
  // Not if it is full.
  template <class Item>
  void add(std::uint32_t to, const Item& item) {
    reinterpret_cast<Item*>(&filled_[to * words_])[sizes_[to]++] = item;
  }

  // Calls apply(source, std::span<const Item>) for each parcel that has come, and for the one
  // that this process has filled for itself; all are empty afterwards. Returns whether any process
  // said that it has more: then there is another round. Collective.
  template <class Item, class Apply>
  bool exchange(bool more, Apply&& apply) {
    using namespace splitc;
    // Two buffers for each source are enough: a process that sends a parcel has received those of
    // the round before from all, which were sent after those of the round before that were applied.
    turn_ = 1 - turn_;
    for (std::uint32_t k = 1; k < procs(); ++k) {
      const std::uint32_t to = (my_proc() + k) % procs();
      store(announced_.on(to) + at(my_proc()), 2 * sizes_[to] + (more ? 1 : 0), counts_[turn_]);
      start_bulk_store(arrived_.on(to) + at(my_proc()) * words_, &filled_[to * words_],
                       words_of<Item>(sizes_[to]) * sizeof(Word), bytes_[turn_]);
    }
    apply(my_proc(), items<Item>(&filled_[my_proc() * words_], sizes_[my_proc()]));
    store_sync((procs() - 1) * sizeof(Word), counts_[turn_]);
    std::size_t words = 0;
    for_each_source([&](std::uint32_t, Word announced, const Word*) {
      more = more || announced % 2 != 0;
      words += words_of<Item>(announced / 2);
    });
    store_sync(words * sizeof(Word), bytes_[turn_]);
    for_each_source([&](std::uint32_t source, Word announced, const Word* parcel) {
      apply(source, items<Item>(parcel, announced / 2));
    });
    sync();  // the parcels that were sent may be filled again
    std::ranges::fill(sizes_, 0);
    return more;
  }

 private:
  using Word = std::uint64_t;

  template <class Item>
  static std::size_t words_of(std::size_t count) {
    return (count * sizeof(Item) + sizeof(Word) - 1) / sizeof(Word);
  }
  template <class Item>
  static std::span<const Item> items(const Word* parcel, std::size_t count) {
    return {reinterpret_cast<const Item*>(parcel), count};
  }
  std::size_t at(std::uint32_t source) const { return turn_ * splitc::procs() + source; }
  template <class F>
  void for_each_source(F&& f) const {
    for (std::uint32_t k = 1; k < splitc::procs(); ++k) {
      const std::uint32_t source = (splitc::my_proc() + k) % splitc::procs();
      f(source, announced_.mine()[at(source)], &arrived_.mine()[at(source) * words_]);
    }
  }

  std::size_t words_;                     // of a parcel
  std::vector<Word> filled_;              // parcels by target,
  std::vector<std::size_t> sizes_;        // ... each with so many items
  splitc::spread_array<Word> arrived_;    // parcels by turn and source,
  splitc::spread_array<Word> announced_;  // ... their items, and whether there will be more
  splitc::store_counter counts_[2];       // by turn: a source may be one ahead
  splitc::store_counter bytes_[2];
  std::size_t turn_ = 0;
};

}  // namespace examples
