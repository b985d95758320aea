#include "am/collective/choice.h"

#include <algorithm>
#include <map>
#include <utility>

namespace am::schedule {
namespace {

// Up to which bytes an algorithm is taken, and how wide trees are.
struct Table {
  std::uint32_t radix;
  std::uint32_t direct;      // up to so many members little goes from everybody to everybody
  std::uint64_t tree;        // a broadcast: down a tree; beyond, in blocks
  std::uint64_t gathered;    // reductions and scans, of all members: gathered, and combined by each
  std::uint64_t doubling;    // an all_reduce: all bytes in each hop
  std::uint64_t all_gather;  // of all members: Bruck's; beyond, around a ring
  std::uint64_t gather;      // a block: up a tree; beyond, each to the root
  std::uint64_t all_to_all;  // a block: Bruck's; beyond, pairwise
  std::uint32_t at_once;     // messages of a round of an exchange
};
// A hop costs a turn of the scheduler where processes share cores, and a message little.
constexpr Table kOnANode{.radix = 32,
                         .direct = 8,
                         .tree = ~std::uint64_t{0},
                         .gathered = 16384,
                         .doubling = 8192,
                         .all_gather = 65536,
                         .gather = 1024,
                         .all_to_all = 256,
                         .at_once = 8};
constexpr Table kOverANetwork{.radix = 2,
                              .direct = 2,
                              .tree = 32768,
                              .gathered = 4096,
                              .doubling = 16384,
                              .all_gather = 65536,
                              .gather = 4096,
                              .all_to_all = 512,
                              .at_once = 4};

Scan scan_of(Operation operation) noexcept {
  return operation == Operation::kScan ? Scan::kInclusive : Scan::kExclusive;
}

Vector vector_of(const Call& call) noexcept {
  return {call.bytes / call.element_bytes, call.element_bytes};
}

Schedule broadcast(const Call& call, Member member, const Table& table) {
  if (call.bytes <= table.tree || member.size < 4) {
    // What is large each takes from the root itself, on a node.
    const bool is_large = call.bytes > table.all_gather;
    return broadcast_tree(member, call.root, call.bytes,
                          is_large ? std::max(member.size, 2u) : table.radix);
  }
  return broadcast_scattered(member, call.root, vector_of(call), table.radix);
}

Schedule gather(const Call& call, Member member, const Table& table) {
  const bool is_large = call.bytes > table.gather;
  return gather_tree(member, call.root, call.bytes,
                     is_large ? std::max(member.size, 2u) : table.radix);
}

Schedule reduce(const Call& call, Member member, const Table& table) {
  if (call.bytes * member.size <= table.gathered) {
    return reduce_gathered(member, call.root, call.bytes, table.radix);
  }
  const Vector vector = vector_of(call);
  if (call.bytes <= table.doubling || vector.elements < member.size) {
    return reduce_tree(member, call.root, call.bytes, 2, Order::kMembers);
  }
  return reduce_halving(member, call.root, vector);
}

Schedule all_reduce(const Call& call, Member member, const Table& table) {
  if (call.bytes * member.size <= table.gathered)
    return all_reduce_gathered(member, call.bytes, table.direct);
  const Vector vector = vector_of(call);
  if (call.bytes <= table.doubling || vector.elements < member.size) {
    return all_reduce_doubling(member, call.bytes);
  }
  return all_reduce_halving(member, vector);
}

// Of members of one node, or of one each.
Schedule of_one_level(const Call& call, Member member, const Table& table) {
  const std::uint64_t all = call.bytes * member.size;
  const bool is_direct = call.bytes <= table.gather && member.size <= table.direct;
  switch (call.operation) {
    case Operation::kBarrier:
      return member.size <= table.direct ? barrier_direct(member) : barrier(member);
    case Operation::kBroadcast: return broadcast(call, member, table);
    case Operation::kReduce: return reduce(call, member, table);
    case Operation::kAllReduce: return all_reduce(call, member, table);
    case Operation::kScan:
    case Operation::kExclusiveScan:
      return all <= table.gathered
                 ? scan_gathered(member, call.bytes, scan_of(call.operation), table.direct)
                 : scan(member, call.bytes, scan_of(call.operation));
    case Operation::kGather: return gather(call, member, table);
    case Operation::kAllGather:
      if (is_direct) return all_gather_direct(member, call.bytes);
      return all <= table.all_gather ? all_gather_bruck(member, call.bytes)
                                     : all_gather_ring(member, call.bytes);
    default:
      if (is_direct) return all_to_all_pairwise(member, call.bytes, member.size);
      return call.bytes <= table.all_to_all
                 ? all_to_all_bruck(member, call.bytes)
                 : all_to_all_pairwise(member, call.bytes, table.at_once);
  }
}

// A call in which each node has a member that speaks for it, its leader: the root, on its node,
// else the first.
class TwoLevels {
 public:
  TwoLevels(const Call& call, const Placement& placement, std::uint32_t me)
      : call_(call),
        me_(me),
        node_(placement.node(me)),
        near_(placement.members(node_)),
        root_node_(placement.node(call.root)) {
    for (std::uint32_t node = 0; node < placement.nodes(); ++node) {
      leaders_.push_back(node == root_node_ ? call.root : placement.members(node).front());
    }
  }

  Schedule write() {
    switch (call_.operation) {
      case Operation::kBarrier: barrier_of_all(); break;
      case Operation::kBroadcast: broadcast_to_all(); break;
      case Operation::kReduce:
      case Operation::kAllReduce: reduce_all(); break;
      default: gather_all();
    }
    return std::move(s_);
  }

 private:
  bool leads() const noexcept { return leaders_[node_] == me_; }
  Member near_member() const noexcept {
    return {static_cast<std::uint32_t>(near_.size()), index(near_, me_)};
  }
  static std::uint32_t index(const std::vector<std::uint32_t>& all, std::uint32_t one) noexcept {
    return static_cast<std::uint32_t>(std::ranges::find(all, one) - all.begin());
  }

  void append_near(Operation operation, std::uint64_t bytes, const Range& in, const Range& out) {
    const Call call{operation, index(near_, leaders_[node_]), bytes, call_.element_bytes};
    s_.append(of_one_level(call, near_member(), kOnANode), {near_, in, out});
  }
  void append_far(Operation operation, std::uint64_t bytes, const Range& in, const Range& out) {
    if (!leads()) return;
    const Call call{operation, root_node_, bytes, call_.element_bytes};
    const Member member{static_cast<std::uint32_t>(leaders_.size()), node_};
    s_.append(of_one_level(call, member, kOverANetwork), {leaders_, in, out});
  }

  void barrier_of_all() {
    if (!leads()) {
      s_.signal(leaders_[node_]);
      s_.end_round();
      s_.await(leaders_[node_]);
      s_.end_round();
      return;
    }
    for (const std::uint32_t other : near_) {
      if (other != me_) s_.await(other);
    }
    s_.end_round();
    append_far(Operation::kBarrier, 0, {}, {});
    for (const std::uint32_t other : near_) {
      if (other != me_) s_.signal(other);
    }
    s_.end_round();
  }

  void broadcast_to_all() {
    const Range value = output(0, call_.bytes);
    append_far(Operation::kBroadcast, call_.bytes, input(0, call_.bytes), value);
    append_near(Operation::kBroadcast, call_.bytes, value, value);
  }

  // Of placements in order, so that the values of a node are combined first.
  void reduce_all() {
    const bool to_all = call_.operation == Operation::kAllReduce;
    const Range of_node = leads() ? s_.scratch(call_.bytes) : output(0, call_.bytes);
    append_near(Operation::kReduce, call_.bytes, input(0, call_.bytes), of_node);
    append_far(call_.operation, call_.bytes, of_node, output(0, call_.bytes));
    if (!to_all) return;
    append_near(Operation::kBroadcast, call_.bytes, output(0, call_.bytes), output(0, call_.bytes));
  }

  // Of placements in order, and as many members on each node.
  void gather_all() {
    const bool to_all = call_.operation == Operation::kAllGather;
    const std::uint64_t of_node = near_.size() * call_.bytes;
    const Range all = output(0, of_node * leaders_.size());
    const Range block = to_all    ? all.part(near_.front() * call_.bytes, of_node)
                        : leads() ? s_.scratch(of_node)
                                  : Range{};
    append_near(Operation::kGather, call_.bytes, input(0, call_.bytes), block);
    append_far(call_.operation, of_node, block, all);
    if (to_all) append_near(Operation::kBroadcast, all.bytes, all, all);
  }

  const Call& call_;
  const std::uint32_t me_;
  const std::uint32_t node_;
  const std::vector<std::uint32_t>& near_;
  const std::uint32_t root_node_;
  std::vector<std::uint32_t> leaders_;  // by node
  Schedule s_;
};

bool takes_two_levels(Operation operation, const Placement& placement) noexcept {
  if (!placement.has_levels()) return false;
  switch (operation) {
    case Operation::kBarrier:
    case Operation::kBroadcast: return true;
    case Operation::kReduce:
    case Operation::kAllReduce: return placement.is_in_order();
    case Operation::kGather:
    case Operation::kAllGather: return placement.is_in_order() && placement.is_even();
    default: return false;
  }
}

}  // namespace

Placement::Placement(const std::vector<std::uint64_t>& node_of) {
  std::map<std::uint64_t, std::uint32_t> numbers;
  for (std::uint32_t member = 0; member < node_of.size(); ++member) {
    const auto [at, is_new] = numbers.try_emplace(node_of[member], nodes());
    if (is_new) members_.emplace_back();
    if (!is_new && node_.back() != at->second) in_order_ = false;
    node_.push_back(at->second);
    members_[at->second].push_back(member);
  }
  for (const auto& near : members_) even_ = even_ && near.size() == members_.front().size();
}

bool is_a_barrier(Operation operation) noexcept {
  switch (operation) {
    case Operation::kBarrier:
    case Operation::kAllReduce:
    case Operation::kAllGather:
    case Operation::kAllToAll: return true;
    default: return false;
  }
}

Schedule choose(const Call& call, const Placement& placement, std::uint32_t me) {
  if (call.bytes == 0 && call.operation != Operation::kBarrier) {
    if (!is_a_barrier(call.operation)) return {};
    return choose({.operation = Operation::kBarrier}, placement, me);
  }
  if (takes_two_levels(call.operation, placement)) return TwoLevels(call, placement, me).write();
  return of_one_level(call, {placement.size(), me},
                      placement.is_one_node() ? kOnANode : kOverANetwork);
}

}  // namespace am::schedule
