#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "splitc/splitc.h"

namespace gups {

// What a process sends to each in one round, and gets from each: a parcel of updates, and how many
// that are. Who gets them waits for as many bytes as the counts say, so nobody waits for all.
class Parcels {
 public:
  explicit Parcels(std::size_t room)
      : room_(room),
        parcels_(splitc::procs() * room),
        sizes_(splitc::procs()),
        arrived_(splitc::procs(), 2 * splitc::procs() * room),
        arrived_sizes_(splitc::procs(), 2 * splitc::procs()) {}

  void add(std::uint32_t to, std::uint64_t value) { parcels_[to * room_ + sizes_[to]++] = value; }

  // Two rooms for each source are enough: whoever sends a parcel has had those of the round before
  // from all, and these were sent when those of the round before that had been taken.
  void send(unsigned turn) {
    for (std::uint32_t k = 1; k < splitc::procs(); ++k) {
      const std::uint32_t to = (splitc::my_proc() + k) % splitc::procs();
      splitc::store(arrived_sizes_.on(to) + at(turn, splitc::my_proc(), 1), sizes_[to],
                    counts_[turn]);
      splitc::start_bulk_store(arrived_.on(to) + at(turn, splitc::my_proc(), room_),
                               &parcels_[to * room_], sizes_[to] * sizeof(std::uint64_t),
                               words_[turn]);
    }
  }
  // Calls apply(values) for what this process has added for itself, and for what others have sent.
  template <class Apply>
  void take(unsigned turn, Apply&& apply) {
    apply(std::span(&parcels_[splitc::my_proc() * room_], sizes_[splitc::my_proc()]));
    splitc::store_sync((splitc::procs() - 1) * sizeof(std::uint64_t), counts_[turn]);
    const std::uint64_t* const sizes = &arrived_sizes_.mine()[turn * splitc::procs()];
    std::uint64_t all = 0;
    for (std::uint32_t from = 0; from < splitc::procs(); ++from) {
      if (from != splitc::my_proc()) all += sizes[from];
    }
    splitc::store_sync(all * sizeof(std::uint64_t), words_[turn]);
    for (std::uint32_t k = 1; k < splitc::procs(); ++k) {
      const std::uint32_t from = (splitc::my_proc() + k) % splitc::procs();
      apply(std::span(&arrived_.mine()[(turn * splitc::procs() + from) * room_], sizes[from]));
    }
    splitc::sync();  // the parcels that have been sent may be filled again
    std::ranges::fill(sizes_, 0);
  }

 private:
  static std::ptrdiff_t at(unsigned turn, std::uint32_t proc, std::size_t room) {
    return static_cast<std::ptrdiff_t>((turn * splitc::procs() + proc) * room);
  }

  std::size_t room_;                             // words of a parcel
  std::vector<std::uint64_t> parcels_;           // by target
  std::vector<std::uint64_t> sizes_;             // of these
  splitc::spread_array<std::uint64_t> arrived_;  // by turn and source
  splitc::spread_array<std::uint64_t> arrived_sizes_;
  splitc::store_counter counts_[2];  // by turn: a source may be one ahead
  splitc::store_counter words_[2];
};

}  // namespace gups
