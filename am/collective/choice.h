#pragma once

#include <cstdint>
#include <vector>

#include "am/collective/algorithms.h"
#include "am/collective/limits.h"
#include "am/collective/schedule.h"

// Which algorithm a collective call takes: one table, for its operation, its bytes, the number of
// members, and where they are. Members of one node that has several talk through the first of them
// with other nodes, so that what they have in common crosses the network once.
//
// Pure, and the same at all members.

namespace am::schedule {

// A new one has a case in each switch of choice.cc: without one it is taken for an all-to-all, and
// for no barrier.
enum class Operation : std::uint8_t {
  kBarrier,
  kBroadcast,
  kReduce,     // to the root
  kAllReduce,  // to all
  kScan,
  kExclusiveScan,
  kGather,  // to the root
  kAllGather,
  kAllToAll,
};

// Whether no member leaves the operation before all have entered it: each receives data of all, or
// a signal where there are no bytes. Other operations return as soon as a member has nothing to
// wait for.
bool is_a_barrier(Operation operation) noexcept;

struct Call {
  Operation operation = Operation::kBarrier;
  std::uint32_t root = 0;
  std::uint64_t bytes = 0;          // of the input; of kAllToAll: of one block
  std::uint64_t element_bytes = 1;  // of what is combined, or moved

  bool operator==(const Call&) const = default;
};

// Which members share a node.
class Placement {
 public:
  // The node of each member, by any numbers.
  explicit Placement(const std::vector<std::uint64_t>& node_of);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(node_.size()); }
  std::uint32_t nodes() const noexcept { return static_cast<std::uint32_t>(members_.size()); }
  // Nodes are numbered as their first members are.
  std::uint32_t node(std::uint32_t member) const noexcept { return node_[member]; }
  // In ascending order.
  const std::vector<std::uint32_t>& members(std::uint32_t node) const noexcept {
    return members_[node];
  }
  bool is_one_node() const noexcept { return nodes() == 1; }
  // Whether some nodes, of several, have several members.
  bool has_levels() const noexcept { return nodes() > 1 && nodes() < size(); }
  // Whether the members of each node follow one another.
  bool is_in_order() const noexcept { return in_order_; }
  // Whether each node has as many.
  bool is_even() const noexcept { return even_; }

 private:
  std::vector<std::uint32_t> node_;
  std::vector<std::vector<std::uint32_t>> members_;
  bool in_order_ = true;
  bool even_ = true;
};

// How the members of a node, which are several, talk.
enum class Near : std::uint8_t {
  kMessages,
  kReads,         // each reads what others publish
  kReadsInTurns,  // the same, but they share cores, and seldom run at the same time
};

// The schedule of member `me`; `near` is the same for all of its node.
Schedule choose(const Call& call, const Placement& placement, std::uint32_t me, Near near,
                const Limits& limits);

}  // namespace am::schedule
