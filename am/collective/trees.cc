// Collective calls with a root: trees, and a chain.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "am/collective/algorithms.h"

namespace am::schedule {
namespace {

// A member's place in a tree of the ranks 0 to size - 1 below rank 0, in which the ranks of each
// subtree are a run. The parent of a rank is the rank with its last digit other than 0, to the base
// `radix`, cleared.
class Tree {
 public:
  struct Child {
    std::uint32_t rank;
    std::uint32_t count;  // ranks of its subtree, itself included
  };

  Tree(std::uint32_t size, std::uint32_t rank, std::uint32_t radix) : rank_(rank) {
    for (std::uint64_t unit = 1; unit < size; unit *= radix) {
      if (const std::uint64_t digit = rank / unit % radix; digit != 0) {
        parent_ = static_cast<std::uint32_t>(rank - digit * unit);
        break;
      }
      for (std::uint64_t digit = 1; digit < radix && rank + digit * unit < size; ++digit) {
        const std::uint64_t child = rank + digit * unit;
        children_.push_back({static_cast<std::uint32_t>(child),
                             static_cast<std::uint32_t>(std::min(unit, size - child))});
      }
    }
  }

  bool is_root() const noexcept { return rank_ == 0; }
  std::uint32_t parent() const noexcept { return parent_; }
  // By rank: those of the smallest subtrees first.
  const std::vector<Child>& children() const noexcept { return children_; }
  // Ranks of the subtree, itself included.
  std::uint32_t count() const noexcept {
    return children_.empty() ? 1 : children_.back().rank + children_.back().count - rank_;
  }

 private:
  std::uint32_t rank_;
  std::uint32_t parent_ = 0;
  std::vector<Child> children_;
};

// Members as ranks from the root on.
struct Ranks {
  std::uint32_t size;
  std::uint32_t root;

  std::uint32_t rank(std::uint32_t member) const noexcept {
    return member >= root ? member - root : member + (size - root);
  }
  std::uint32_t member(std::uint32_t rank) const noexcept {
    return rank < size - root ? rank + root : rank - (size - root);
  }
};

// Copies blocks that lie in the order of ranks to where they lie in that of members, or back.
void copy_in_order(Schedule& s, const Ranks& ranks, std::uint64_t block, const Range& by_rank,
                   const Range& by_member, bool to_members) {
  const std::uint64_t first = (ranks.size - ranks.root) * block;  // those of root and behind
  const std::uint64_t rest = ranks.root * block;
  const auto copy = [&](const Range& a, const Range& b) {
    to_members ? s.copy(a, b) : s.copy(b, a);
  };
  copy(by_rank.part(0, first), by_member.part(rest, first));
  copy(by_rank.part(first, rest), by_member.part(0, rest));
}

}  // namespace

Schedule broadcast_tree(Member member, std::uint32_t root, std::uint64_t bytes,
                        std::uint32_t radix) {
  const Ranks ranks{member.size, root};
  const Tree tree(member.size, ranks.rank(member.me), radix);
  Schedule s;
  if (!tree.is_root()) s.receive(ranks.member(tree.parent()), output(0, bytes));
  s.end_round();
  const Range value = tree.is_root() ? input(0, bytes) : output(0, bytes);
  for (auto child = tree.children().rbegin(); child != tree.children().rend(); ++child) {
    s.send(ranks.member(child->rank), value);
  }
  if (tree.is_root()) s.copy(value, output(0, bytes));
  s.end_round();
  return s;
}

Schedule broadcast_chain(Member member, std::uint32_t root, std::uint64_t bytes,
                         std::uint64_t segment) {
  const Ranks ranks{member.size, root};
  const std::uint32_t rank = ranks.rank(member.me);
  const bool last = rank + 1 == member.size;
  const std::uint64_t segments = bytes == 0 ? 0 : (bytes - 1) / segment + 1;
  const auto at = [&](const Range& all, std::uint64_t number) {
    return all.part(number * segment, std::min(segment, bytes - number * segment));
  };
  Schedule s;
  if (rank == 0) {
    for (std::uint64_t i = 0; i < segments && !last; ++i) {
      s.send(ranks.member(1), at(input(0, bytes), i));
      s.end_round();
    }
    s.copy(input(0, bytes), output(0, bytes));
    s.end_round();
    return s;
  }
  // One comes while the one before it goes on.
  for (std::uint64_t i = 0; i <= segments; ++i) {
    if (i < segments) s.receive(ranks.member(rank - 1), at(output(0, bytes), i));
    if (i > 0 && !last) s.send(ranks.member(rank + 1), at(output(0, bytes), i - 1));
    s.end_round();
  }
  return s;
}

Schedule broadcast_scattered(Member member, std::uint32_t root, const Vector& vector,
                             std::uint32_t radix) {
  const std::uint32_t size = member.size;
  const Ranks ranks{size, root};
  const std::uint32_t rank = ranks.rank(member.me);
  const Tree tree(size, rank, radix);
  const auto blocks = [&](std::uint32_t first, std::uint32_t count) {
    const std::uint64_t begin = vector.begin(first, size);
    return output(begin, vector.begin(first + count, size) - begin);
  };
  Schedule s;
  if (tree.is_root()) {
    s.copy(input(0, vector.bytes()), output(0, vector.bytes()));
  } else {
    s.receive(ranks.member(tree.parent()), blocks(rank, tree.count()));
  }
  s.end_round();
  for (auto child = tree.children().rbegin(); child != tree.children().rend(); ++child) {
    s.send(ranks.member(child->rank), blocks(child->rank, child->count));
  }
  s.end_round();
  // Around the ring what the tree has not brought.
  const std::uint32_t next = ranks.member(rank + 1 == size ? 0 : rank + 1);
  const std::uint32_t previous = ranks.member(rank == 0 ? size - 1 : rank - 1);
  const Tree next_tree(size, ranks.rank(next), radix);
  for (std::uint32_t i = 0; i + 1 < size; ++i) {
    const std::uint32_t out = (rank + size - i) % size;
    const std::uint32_t in = (rank + size - i - 1) % size;
    const auto has = [](const Tree& there, std::uint32_t from, std::uint32_t block) {
      return block >= from && block < from + there.count();
    };
    if (!has(next_tree, ranks.rank(next), out)) s.send(next, blocks(out, 1));
    if (!has(tree, rank, in)) s.receive(previous, blocks(in, 1));
    s.end_round();
  }
  return s;
}

Schedule reduce_tree(Member member, std::uint32_t root, std::uint64_t bytes, std::uint32_t radix,
                     Order order) {
  const Ranks ranks{member.size, order == Order::kAny ? root : 0};
  const Tree tree(member.size, ranks.rank(member.me), radix);
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
      s.receive(ranks.member(child.rank), given.back());
    }
    for (const Range& one : given) s.combine_behind(one, value);
    s.end_round();
  }
  const std::uint32_t top = ranks.member(0);
  if (!tree.is_root()) {
    s.send(ranks.member(tree.parent()), value);
  } else if (!is_root) {
    s.send(root, value);
  }
  s.end_round();
  if (is_root && !tree.is_root()) s.receive(top, output(0, bytes));
  s.end_round();
  return s;
}

Schedule gather_tree(Member member, std::uint32_t root, std::uint64_t bytes, std::uint32_t radix) {
  const Ranks ranks{member.size, root};
  const std::uint32_t rank = ranks.rank(member.me);
  const Tree tree(member.size, rank, radix);
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
    s.receive(ranks.member(child.rank),
              blocks.part((child.rank - rank) * bytes, child.count * bytes));
  }
  s.end_round();
  if (!tree.is_root()) {
    s.send(ranks.member(tree.parent()), blocks);
  } else if (!in_place) {
    copy_in_order(s, ranks, bytes, blocks, output(0, all), true);
  }
  s.end_round();
  return s;
}

Schedule scatter_tree(Member member, std::uint32_t root, std::uint64_t bytes, std::uint32_t radix) {
  const Ranks ranks{member.size, root};
  const std::uint32_t rank = ranks.rank(member.me);
  const Tree tree(member.size, rank, radix);
  const std::uint64_t all = tree.count() * bytes;
  Schedule s;
  Range blocks = tree.is_root() ? input(0, all) : output(0, bytes);
  if (tree.is_root() ? root != 0 : !tree.children().empty()) blocks = s.scratch(all);
  if (!tree.is_root()) {
    s.receive(ranks.member(tree.parent()), blocks);
  } else if (root != 0) {
    copy_in_order(s, ranks, bytes, blocks, input(0, all), false);
  }
  s.end_round();
  for (auto child = tree.children().rbegin(); child != tree.children().rend(); ++child) {
    s.send(ranks.member(child->rank),
           blocks.part((child->rank - rank) * bytes, child->count * bytes));
  }
  if (blocks.buffer != Buffer::kOutput) s.copy(blocks.part(0, bytes), output(0, bytes));
  s.end_round();
  return s;
}

}  // namespace am::schedule
