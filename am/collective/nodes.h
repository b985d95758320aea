#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/types/types.h"

namespace am {

class Router;

// Some ranks in ascending order: of a list, or those that follow one another.
class RankList {
 public:
  class Iterator {
   public:
    using value_type = Rank;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const RankList& list, std::size_t at) noexcept : list_(&list), at_(at) {}
    Rank operator*() const noexcept { return (*list_)[at_]; }
    Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    Iterator operator++(int) noexcept { return {*list_, at_++}; }
    std::ptrdiff_t operator-(const Iterator& other) const noexcept {
      return static_cast<std::ptrdiff_t>(at_ - other.at_);
    }
    bool operator==(const Iterator& other) const noexcept { return at_ == other.at_; }

   private:
    const RankList* list_ = nullptr;
    std::size_t at_ = 0;
  };

  // `ranks`: where the list is, which outlives this; nullptr: first, first + 1, ...
  RankList(const Rank* ranks, Rank first, std::size_t size) noexcept
      : ranks_(ranks), first_(first), size_(size) {}

  std::size_t size() const noexcept { return size_; }
  Rank operator[](std::size_t i) const noexcept {
    return ranks_ != nullptr ? ranks_[i] : first_ + static_cast<Rank>(i);
  }
  Rank front() const noexcept { return (*this)[0]; }
  Iterator begin() const noexcept { return {*this, 0}; }
  Iterator end() const noexcept { return {*this, size_}; }

 private:
  const Rank* ranks_;
  Rank first_;
  std::size_t size_;
};

// Which processes are on which node. Constant; any thread. Takes 8 bytes a node; and 4 a process,
// beside the 4 of Router::Options::nodes, unless the ranks of each node follow one another.
class Nodes {
 public:
  explicit Nodes(const Router& router);

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(begin_.size() - 1); }
  std::uint32_t mine() const noexcept { return mine_; }
  // Costs a binary search, or a load.
  std::uint32_t of(Rank rank) const noexcept;
  // In ascending order; the first is the node's leader.
  RankList ranks(std::uint32_t node) const noexcept {
    const std::uint32_t first = begin_[node];
    return {of_.empty() ? nullptr : ranks_.data() + first, first, begin_[node + 1] - first};
  }

 private:
  void sort(std::uint32_t processes);

  const std::uint32_t mine_;
  const std::span<const std::uint32_t> of_;  // by rank; empty: as begin_ says
  std::vector<std::uint32_t> begin_;         // by node, in ranks_; and the end
  std::vector<Rank> ranks_;                  // of one node after the other; empty: 0, 1, 2, ...
};

// The memory of another process of this node as the kernel copies it, outside what both map
// (shmem/cross_memory.h). A process shows the others a Neighbour, plain bytes.
struct Neighbour {
  std::uint64_t pid;
  std::uint64_t known_word;  // the address of one whose value all know

  static Neighbour self() noexcept;

  // Whether the system lets this process read there. Costs a system call.
  bool is_readable() const noexcept;
  // Copies `bytes` from `address` there. Throws Error: refused, not mapped, or gone.
  void read(void* to, std::uint64_t address, std::size_t bytes) const;
};

}  // namespace am
