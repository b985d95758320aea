// Collective calls down and up trees, and along a chain.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "am/collective/algorithms.h"

namespace am::schedule {
namespace {

// A member's place in a tree. Members have ranks in it, which count from the root on, and the ranks
// of each subtree are a run. The parent of a rank is the rank with its last digit other than 0, to
// the base `radix`, cleared.
class Tree {
 public:
  struct Child {
    std::uint32_t member;
    std::uint32_t rank;
    std::uint32_t count;  // ranks of its subtree, itself included
  };

  Tree(Member member, std::uint32_t root, std::uint32_t radix = 2)
      : size_(member.size),
        root_(root),
        rank_(member.me >= root ? member.me - root : member.me + (size_ - root)) {
    for (std::uint64_t unit = 1; unit < size_; unit *= radix) {
      if (const std::uint64_t digit = rank_ / unit % radix; digit != 0) {
        parent_ = static_cast<std::uint32_t>(rank_ - digit * unit);
        break;
      }
      for (std::uint64_t digit = 1; digit < radix && rank_ + digit * unit < size_; ++digit) {
        const auto child = static_cast<std::uint32_t>(rank_ + digit * unit);
        children_.push_back(
            {this->member(child), child,
             static_cast<std::uint32_t>(std::min<std::uint64_t>(unit, size_ - child))});
      }
    }
  }

  std::uint32_t size() const noexcept { return size_; }
  std::uint32_t root() const noexcept { return root_; }
  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t member(std::uint32_t rank) const noexcept {
    return rank < size_ - root_ ? rank + root_ : rank - (size_ - root_);
  }
  bool is_root() const noexcept { return rank_ == 0; }
  std::uint32_t parent() const noexcept { return member(parent_); }
  // By rank: those of the smallest subtrees first.
  const std::vector<Child>& children() const noexcept { return children_; }
  // Ranks of the subtree, itself included.
  std::uint32_t count() const noexcept {
    return children_.empty() ? 1 : children_.back().rank + children_.back().count - rank_;
  }
  bool has(std::uint32_t rank) const noexcept { return rank >= rank_ && rank < rank_ + count(); }

  // range(child) to each child, to that of the largest subtree first.
  template <class F>
  void send_down(Schedule& s, F&& range) const {
    for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
      s.send(child->member, range(*child));
    }
  }

 private:
  const std::uint32_t size_;
  const std::uint32_t root_;
  const std::uint32_t rank_;
  std::uint32_t parent_ = 0;  // its rank
  std::vector<Child> children_;
};

// Copies blocks that lie in the order of ranks to where they lie in that of members.
void copy_in_order(Schedule& s, const Tree& tree, std::uint64_t block, const Range& by_rank,
                   const Range& by_member) {
  const std::uint64_t first = (tree.size() - tree.root()) * block;  // those of root and behind
  const std::uint64_t rest = tree.root() * block;
  s.copy(by_rank.part(0, first), by_member.part(rest, first));
  s.copy(by_rank.part(first, rest), by_member.part(0, rest));
}

// Of the blocks of a subtree those of a child's.
Range of(const Tree& tree, const Tree::Child& child, std::uint64_t block, const Range& blocks) {
  return blocks.part((child.rank - tree.rank()) * block, child.count * block);
}

}  // namespace

Schedule broadcast_tree(Member member, std::uint32_t root, std::uint64_t bytes) {
  const Tree tree(member, root);
  Schedule s;
  if (!tree.is_root()) s.receive(tree.parent(), output(0, bytes));
  s.end_round();
  const Range value = tree.is_root() ? input(0, bytes) : output(0, bytes);
  tree.send_down(s, [&](const Tree::Child&) { return value; });
  if (tree.is_root()) s.copy(value, output(0, bytes));
  s.end_round();
  return s;
}

Schedule broadcast_scattered(Member member, std::uint32_t root, const Vector& vector) {
  const std::uint32_t size = member.size;
  const Tree tree(member, root);
  const std::uint32_t rank = tree.rank();
  const auto blocks = [&](std::uint32_t first, std::uint32_t count) {
    const std::uint64_t begin = vector.begin(first, size);
    return output(begin, vector.begin(first + count, size) - begin);
  };
  Schedule s;
  if (tree.is_root()) {
    s.copy(input(0, vector.bytes()), output(0, vector.bytes()));
  } else {
    s.receive(tree.parent(), blocks(rank, tree.count()));
  }
  s.end_round();
  tree.send_down(s, [&](const Tree::Child& child) { return blocks(child.rank, child.count); });
  s.end_round();
  // Around the ring what the tree has not brought.
  const std::uint32_t next = tree.member(rank + 1 == size ? 0 : rank + 1);
  const std::uint32_t previous = tree.member(rank == 0 ? size - 1 : rank - 1);
  const Tree next_tree({size, next}, root);
  for (std::uint32_t i = 0; i + 1 < size; ++i) {
    const std::uint32_t out = (rank + size - i) % size;
    const std::uint32_t in = (rank + size - i - 1) % size;
    if (!next_tree.has(out)) s.send(next, blocks(out, 1));
    if (!tree.has(in)) s.receive(previous, blocks(in, 1));
    s.end_round();
  }
  return s;
}

Schedule reduce_tree(Member member, std::uint32_t root, std::uint64_t bytes) {
  const Tree tree(member, 0);
  const bool is_root = member.me == root;
  Schedule s;
  Range value = input(0, bytes);
  if (!tree.children().empty() || (tree.is_root() && is_root)) {
    value = tree.is_root() && is_root ? output(0, bytes) : s.scratch(bytes);
    s.copy(input(0, bytes), value);
    s.end_round();
    std::vector<Range> given;
    for (const Tree::Child& child : tree.children()) {
      given.push_back(s.scratch(bytes));
      s.receive(child.member, given.back());
    }
    for (const Range& one : given) s.combine_behind(one, value);
    s.end_round();
  }
  if (!tree.is_root()) {
    s.send(tree.parent(), value);
  } else if (!is_root) {
    s.send(root, value);
  }
  s.end_round();
  if (is_root && !tree.is_root()) s.receive(tree.root(), output(0, bytes));
  s.end_round();
  return s;
}

Schedule gather_tree(Member member, std::uint32_t root, std::uint64_t bytes, std::uint32_t radix) {
  const Tree tree(member, root, radix);
  const std::uint64_t all = tree.count() * bytes;
  Schedule s;
  // Those of the subtree, by rank.
  const bool in_place = tree.is_root() && root == 0;
  const Range blocks = in_place                  ? output(0, all)
                       : tree.children().empty() ? input(0, bytes)
                                                 : s.scratch(all);
  if (in_place || !tree.children().empty()) {
    s.copy(input(0, bytes), blocks.part(0, bytes));
    s.end_round();
  }
  for (const Tree::Child& child : tree.children()) {
    s.receive(child.member, of(tree, child, bytes, blocks));
  }
  s.end_round();
  if (!tree.is_root()) {
    s.send(tree.parent(), blocks);
  } else if (!in_place) {
    copy_in_order(s, tree, bytes, blocks, output(0, all));
  }
  s.end_round();
  return s;
}

Schedule scan_chain(Member member, std::uint64_t bytes, Scan kind, bool reads) {
  const bool inclusive = kind == Scan::kInclusive;
  const bool is_first = member.me == 0, is_last = member.me + 1 == member.size;
  Schedule s;
  const Range before = s.scratch(is_first ? 0 : bytes);
  const Range value = inclusive ? output(0, bytes) : s.scratch(bytes);  // of those up to this one
  const auto item = reads ? s.new_item(bytes, 0) : std::uint8_t{0};
  if (!is_first) reads ? s.read(item, member.me - 1, 0, before) : s.receive(member.me - 1, before);
  if (inclusive || !is_last) s.copy(input(0, bytes), value);
  if (!is_first) {
    if (inclusive || !is_last) s.combine_before(before, value);
    if (!inclusive) s.copy(before, output(0, bytes));
  }
  s.end_round();
  if (!is_last) reads ? s.publish(item, member.me + 1, value) : s.send(member.me + 1, value);
  s.end_round();
  return s;
}

}  // namespace am::schedule
