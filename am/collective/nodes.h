#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/types/types.h"

namespace am {

class Router;

// Which processes are on which node. Constant; any thread.
class Nodes {
 public:
  explicit Nodes(const Router& router);

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(begin_.size() - 1); }
  std::uint32_t mine() const noexcept { return mine_; }
  std::size_t processes() const noexcept { return ranks_.size(); }  // of all nodes
  std::size_t most() const noexcept { return most_; }               // ... of one
  std::uint32_t of(Rank rank) const noexcept { return of_.empty() ? 0 : of_[rank]; }
  // In ascending order; the first is the node's leader.
  std::span<const Rank> ranks(std::uint32_t node) const noexcept {
    return {ranks_.data() + begin_[node], ranks_.data() + begin_[node + 1]};
  }
  // So many nodes further on, round the ring of all.
  std::uint32_t after(std::uint32_t node, std::uint32_t steps) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{node} + steps) % count());
  }
  std::uint32_t before(std::uint32_t node, std::uint32_t steps) const noexcept {
    return after(node, count() - steps % count());
  }

 private:
  const std::uint32_t mine_;
  const std::span<const std::uint32_t> of_;  // by rank; empty: there is one node
  std::vector<std::uint32_t> begin_;         // by node, in ranks_; and the end
  std::vector<Rank> ranks_;                  // of one node after the other
  std::size_t most_ = 0;
};

}  // namespace am
