#include "am/collective/choice.h"

#include <algorithm>
#include <map>
#include <utility>

namespace am::schedule {
namespace {

// Of all members: a reduction or scan of so few bytes gathers all inputs, and each that gets a
// result combines them, so that it has the bits of a loop over the members.
constexpr std::uint64_t kGathered = 4096;
constexpr std::uint32_t kFew = 8;  // members, whose blocks the root receives from each

bool is_little(const Call& call, std::uint32_t size) noexcept {
  return call.bytes * size <= kGathered;
}

Scan scan_of(Operation operation) noexcept {
  return operation == Operation::kScan ? Scan::kInclusive : Scan::kExclusive;
}

Vector vector_of(const Call& call) noexcept {
  return {call.bytes / call.element_bytes, call.element_bytes};
}

// Of members that send messages.
class ByMessages {
 public:
  ByMessages(const Call& call, Member member, const Limits& limits) noexcept
      : call_(call), member_(member), limits_(limits), vector_(vector_of(call)) {}

  Schedule write() const {
    switch (call_.operation) {
      case Operation::kBarrier: return barrier(member_);
      case Operation::kBroadcast: return broadcast();
      case Operation::kReduce: return reduce();
      case Operation::kAllReduce: return all_reduce();
      case Operation::kScan:
      case Operation::kExclusiveScan: return scan();
      case Operation::kGather: return gather();
      case Operation::kAllGather:
        return call_.bytes * member_.size <= limits_.all_gather_bruck
                   ? all_gather_bruck(member_, call_.bytes)
                   : all_gather_ring(member_, call_.bytes);
      default:
        return call_.bytes <= limits_.all_to_all_bruck ? all_to_all_bruck(member_, call_.bytes)
                                                       : all_to_all_pairwise(member_, call_.bytes);
    }
  }

 private:
  bool can_be_divided() const noexcept { return vector_.elements >= member_.size; }

  Schedule broadcast() const {
    return call_.bytes <= limits_.broadcast_tree || member_.size < 4
               ? broadcast_tree(member_, call_.root, call_.bytes)
               : broadcast_scattered(member_, call_.root, vector_);
  }
  Schedule gather() const {
    const bool has_children = member_.size > kFew && call_.bytes <= limits_.gather_tree;
    return gather_tree(member_, call_.root, call_.bytes,
                       has_children ? 2 : std::max(member_.size, 2u));
  }
  Schedule reduce() const {
    if (is_little(call_, member_.size)) {
      return reduce_gathered(member_, call_.root, call_.bytes);
    }
    return call_.bytes <= limits_.reduce_tree || !can_be_divided()
               ? reduce_tree(member_, call_.root, call_.bytes)
               : reduce_halving(member_, call_.root, vector_);
  }
  Schedule all_reduce() const {
    if (is_little(call_, member_.size)) return all_reduce_gathered(member_, call_.bytes);
    // Of two members halves are sent as often as all of it.
    const std::uint64_t most = limits_.all_reduce_doubling * (member_.size == 2 ? 2 : 1);
    return call_.bytes <= most || !can_be_divided() ? all_reduce_doubling(member_, call_.bytes)
                                                    : all_reduce_halving(member_, vector_);
  }
  Schedule scan() const {
    const Scan kind = scan_of(call_.operation);
    if (member_.size <= limits_.scan_chain) return scan_chain(member_, call_.bytes, kind);
    return is_little(call_, member_.size) ? scan_gathered(member_, call_.bytes, kind)
                                          : schedule::scan(member_, call_.bytes, kind);
  }

  const Call& call_;
  const Member member_;
  const Limits& limits_;
  const Vector vector_;
};

// Of members of one node, who read what they publish.
Schedule by_reading(const Call& call, Member member, Near way) {
  switch (call.operation) {
    case Operation::kBarrier: return on_node::barrier(member);
    case Operation::kBroadcast: return on_node::broadcast(member, call.root, call.bytes);
    case Operation::kReduce: return on_node::reduce(member, call.root, vector_of(call));
    case Operation::kAllReduce: return on_node::all_reduce(member, vector_of(call));
    case Operation::kScan:
    case Operation::kExclusiveScan:
      // 64 processes on 2 cores: 321 us if each reads those of all before it.
      return way == Near::kReadsInTurns
                 ? scan_chain(member, call.bytes, scan_of(call.operation), true)
                 : on_node::scan(member, call.bytes, scan_of(call.operation));
    case Operation::kGather: return on_node::gather(member, call.root, call.bytes);
    case Operation::kAllGather: return on_node::all_gather(member, call.bytes);
    default: return on_node::all_to_all(member, call.bytes);
  }
}

// A call in which each node has a member that speaks for it, its leader: the root, on its node,
// else the first.
class TwoLevels {
 public:
  TwoLevels(const Call& call, const Placement& placement, std::uint32_t me, Near way,
            const Limits& limits)
      : call_(call),
        limits_(limits),
        me_(me),
        size_(placement.size()),
        way_(way),
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
      case Operation::kAllReduce: is_little(call_, size_) ? reduce_few() : reduce_all(); break;
      default: gather();
    }
    return std::move(s_);
  }

 private:
  bool reads() const noexcept { return way_ != Near::kMessages; }
  bool leads() const noexcept { return leaders_[node_] == me_; }
  Member near_member() const noexcept {
    return {static_cast<std::uint32_t>(near_.size()), index(near_, me_)};
  }
  static std::uint32_t index(const std::vector<std::uint32_t>& all, std::uint32_t one) noexcept {
    return static_cast<std::uint32_t>(std::ranges::find(all, one) - all.begin());
  }

  void append_near(Operation operation, std::uint64_t bytes, const Range& in, const Range& out) {
    const Call call{operation, index(near_, leaders_[node_]), bytes, call_.element_bytes};
    s_.append(reads() ? by_reading(call, near_member(), way_)
                      : ByMessages(call, near_member(), limits_).write(),
              {near_, in, out});
  }
  void append_far(Operation operation, std::uint64_t bytes, const Range& in, const Range& out) {
    if (!leads()) return;
    const Call call{operation, root_node_, bytes, call_.element_bytes};
    const Member member{static_cast<std::uint32_t>(leaders_.size()), node_};
    s_.append(ByMessages(call, member, limits_).write(), {leaders_, in, out});
  }

  // A sign of each to its leader, and of the leader to each.
  void barrier_of_all() {
    if (reads()) {
      const auto come = s_.new_item(0, near_member().size - 1);
      if (leads()) {
        for_others_near([&](std::uint32_t other) { s_.read(come, other, 0, {}); });
      } else {
        s_.publish(come, leaders_[node_], {});
      }
      s_.end_round();
      append_far(Operation::kBarrier, 0, {}, {});
      const auto leave = s_.new_item(0, 1);
      leads() ? s_.publish(leave, kAllMembers, {}) : s_.read(leave, leaders_[node_], 0, {});
    } else if (leads()) {
      for_others_near([this](std::uint32_t other) { s_.await(other); });
      s_.end_round();
      append_far(Operation::kBarrier, 0, {}, {});
      for_others_near([this](std::uint32_t other) { s_.signal(other); });
    } else {
      s_.signal(leaders_[node_]);
      s_.end_round();
      s_.await(leaders_[node_]);
    }
    s_.end_round();
  }
  template <class F>
  void for_others_near(F&& f) const {
    for (const std::uint32_t other : near_) {
      if (other != me_) f(other);
    }
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

  // Of placements in order, and as many members on each node. All inputs become `all`, at all
  // members or the root.
  void gather_all(const Range& all, bool to_all) {
    const std::uint64_t of_node = near_.size() * call_.bytes;
    const Range block = to_all    ? all.part(near_.front() * call_.bytes, of_node)
                        : leads() ? s_.scratch(of_node)
                                  : Range{};
    append_near(Operation::kGather, call_.bytes, input(0, call_.bytes), block);
    append_far(to_all ? Operation::kAllGather : Operation::kGather, of_node, block, all);
    if (to_all) append_near(Operation::kBroadcast, all.bytes, all, all);
  }
  void gather() {
    gather_all(output(0, size_ * call_.bytes), call_.operation == Operation::kAllGather);
  }

  // Reduces few bytes, so that the bits are those of a loop over all members.
  void reduce_few() {
    const bool to_all = call_.operation == Operation::kAllReduce;
    const bool gets = to_all || me_ == call_.root;
    const std::uint64_t bytes = call_.bytes;
    const Range all = gets ? s_.scratch(size_ * bytes) : Range{};
    gather_all(all, to_all);
    if (!gets) return;
    s_.copy(all.part(0, bytes), output(0, bytes));
    for (std::uint64_t i = 1; i < size_; ++i) {
      s_.combine_behind(all.part(i * bytes, bytes), output(0, bytes));
    }
    s_.end_round();
  }

  const Call& call_;
  const Limits& limits_;
  const std::uint32_t me_;
  const std::uint32_t size_;
  const Near way_;
  const std::uint32_t node_;
  const std::vector<std::uint32_t>& near_;
  const std::uint32_t root_node_;
  std::vector<std::uint32_t> leaders_;  // by node
  Schedule s_;
};

bool takes_two_levels(const Call& call, const Placement& placement) noexcept {
  if (!placement.has_levels()) return false;
  switch (call.operation) {
    case Operation::kBarrier:
    case Operation::kBroadcast: return true;
    case Operation::kReduce:
    case Operation::kAllReduce:
      return placement.is_in_order() && (placement.is_even() || !is_little(call, placement.size()));
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

Schedule choose(const Call& call, const Placement& placement, std::uint32_t me, Near near,
                const Limits& limits) {
  if (call.bytes == 0 && call.operation != Operation::kBarrier) {
    if (!is_a_barrier(call.operation)) return {};
    return choose({.operation = Operation::kBarrier}, placement, me, near, limits);
  }
  if (takes_two_levels(call, placement)) {
    return TwoLevels(call, placement, me, near, limits).write();
  }
  const Member member{placement.size(), me};
  if (placement.is_one_node() && near != Near::kMessages) return by_reading(call, member, near);
  return ByMessages(call, member, limits).write();
}

}  // namespace am::schedule
