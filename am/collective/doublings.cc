// Collective calls in which the distance of those who talk doubles with each round.

#include <bit>
#include <cstdint>
#include <vector>

#include "am/collective/algorithms.h"

namespace am::schedule {
namespace {

// The members as the largest power of 2 that they hold: of the first 2 * `folded`, each even one
// gives its input to the odd one behind it, which stands for both. So those who go on stay in
// order.
class Folded {
 public:
  explicit Folded(Member member) noexcept
      : member_(member), size_(std::bit_floor(member.size)), folded_(member.size - size_) {}

  std::uint32_t size() const noexcept { return size_; }
  bool is_folded(std::uint32_t who) const noexcept { return who < 2 * folded_ && who % 2 == 0; }
  // Of one that is not folded, and back; of one that is, who stands for it.
  std::uint32_t rank(std::uint32_t who) const noexcept {
    return who < 2 * folded_ ? who / 2 : who - folded_;
  }
  std::uint32_t member(std::uint32_t rank) const noexcept {
    return rank < folded_ ? 2 * rank + 1 : rank + folded_;
  }

  // Combines `value` of each even one into that of the odd one. False: this one is folded.
  bool fold(Schedule& s, const Range& value) const {
    const std::uint32_t me = member_.me;
    if (is_folded(me)) {
      s.send(me + 1, value);
      s.end_round();
      return false;
    }
    if (me < 2 * folded_) {
      const Range other = s.scratch(value.bytes);
      s.receive(me - 1, other);
      s.combine_before(other, value);
      s.end_round();
    }
    return true;
  }
  // The result, from who stands for a folded one to that.
  void unfold(Schedule& s, const Range& value) const {
    const std::uint32_t me = member_.me;
    if (is_folded(me)) {
      s.receive(me + 1, value);
    } else if (me < 2 * folded_) {
      s.send(me - 1, value);
    }
    s.end_round();
  }

 private:
  const Member member_;
  const std::uint32_t size_;
  const std::uint32_t folded_;
};

// What of a vector a member still has, as it is halved and becomes whole again. All whose ranks
// have the same lower bits have the same.
class Halves {
 public:
  Halves(const Folded& members, std::uint32_t rank, const Vector& vector)
      : members_(members), rank_(rank), vector_(vector) {
    Part part{0, vector.elements};
    for (std::uint32_t bit = 1; bit < members.size(); bit *= 2) {
      const std::uint64_t middle = part.begin + (part.end - part.begin) / 2;
      const Part low{part.begin, middle};
      const Part high{middle, part.end};
      const bool keeps_low = (rank & bit) == 0;
      part = keeps_low ? low : high;
      steps_.push_back({members.member(rank ^ bit), part, keeps_low ? high : low, keeps_low});
    }
  }

  // The part that is left at the end is combined of all members' `value`.
  void reduce(Schedule& s, const Range& value) const {
    const Range other = s.scratch(value.bytes);
    for (const Exchange& step : steps_) {
      const Range mine = of(value, step.kept);
      const Range theirs = of(other, step.kept);
      s.send(step.peer, of(value, step.given));
      s.receive(step.peer, theirs);
      step.is_lower ? s.combine_behind(theirs, mine) : s.combine_before(theirs, mine);
      s.end_round();
    }
  }
  // The reverse: each part to who gave it away.
  void gather(Schedule& s, const Range& value) const {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      s.send(step->peer, of(value, step->kept));
      s.receive(step->peer, of(value, step->given));
      s.end_round();
    }
  }
  // Gathers to the one with that rank alone.
  void gather_at(std::uint32_t root, Schedule& s, const Range& value) const {
    std::uint32_t bit = members_.size() / 2;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step, bit /= 2) {
      if (((rank_ ^ root) & bit) != 0) {
        s.send(step->peer, of(value, step->kept));
        s.end_round();
        return;
      }
      s.receive(step->peer, of(value, step->given));
      s.end_round();
    }
  }

 private:
  struct Part {  // elements
    std::uint64_t begin;
    std::uint64_t end;
  };
  struct Exchange {
    std::uint32_t peer;
    Part kept;
    Part given;
    bool is_lower;  // than the peer
  };

  Range of(const Range& value, const Part& part) const noexcept {
    return value.part(part.begin * vector_.element_bytes,
                      (part.end - part.begin) * vector_.element_bytes);
  }

  const Folded& members_;
  const std::uint32_t rank_;
  const Vector vector_;
  std::vector<Exchange> steps_;
};

}  // namespace

Schedule barrier(Member member) {
  Schedule s;
  for (std::uint64_t distance = 1; distance < member.size; distance *= 2) {
    s.signal(static_cast<std::uint32_t>((member.me + distance) % member.size));
    s.await(static_cast<std::uint32_t>((member.me + member.size - distance) % member.size));
    s.end_round();
  }
  return s;
}

Schedule all_reduce_doubling(Member member, std::uint64_t bytes) {
  const Folded members(member);
  const Range value = output(0, bytes);
  Schedule s;
  s.copy(input(0, bytes), value);
  s.end_round();
  if (members.fold(s, value)) {
    const std::uint32_t rank = members.rank(member.me);
    const Range other = s.scratch(bytes);
    for (std::uint32_t bit = 1; bit < members.size(); bit *= 2) {
      const std::uint32_t peer = members.member(rank ^ bit);
      s.send(peer, value);
      s.receive(peer, other);
      (rank & bit) == 0 ? s.combine_behind(other, value) : s.combine_before(other, value);
      s.end_round();
    }
  }
  members.unfold(s, value);
  return s;
}

Schedule all_reduce_halving(Member member, const Vector& vector) {
  const Folded members(member);
  const Range value = output(0, vector.bytes());
  Schedule s;
  s.copy(input(0, vector.bytes()), value);
  s.end_round();
  if (members.fold(s, value)) {
    const Halves halves(members, members.rank(member.me), vector);
    halves.reduce(s, value);
    halves.gather(s, value);
  }
  members.unfold(s, value);
  return s;
}

Schedule reduce_halving(Member member, std::uint32_t root, const Vector& vector) {
  const Folded members(member);
  const bool is_root = member.me == root;
  Schedule s;
  const Range value = is_root ? output(0, vector.bytes()) : s.scratch(vector.bytes());
  s.copy(input(0, vector.bytes()), value);
  s.end_round();
  if (members.fold(s, value)) {
    const Halves halves(members, members.rank(member.me), vector);
    halves.reduce(s, value);
    halves.gather_at(members.rank(root), s, value);
  }
  if (members.is_folded(root)) {
    if (is_root) s.receive(root + 1, value);
    if (member.me == root + 1) s.send(root, value);
    s.end_round();
  }
  return s;
}

Schedule scan(Member member, std::uint64_t bytes, Scan kind) {
  const bool inclusive = kind == Scan::kInclusive;
  Schedule s;
  const Range value = inclusive ? output(0, bytes) : s.scratch(bytes);  // of those up to this one
  const Range other = s.scratch(bytes);
  s.copy(input(0, bytes), value);
  s.end_round();
  for (std::uint64_t distance = 1; distance < member.size; distance *= 2) {
    if (member.me + distance < member.size) {
      s.send(static_cast<std::uint32_t>(member.me + distance), value);
    }
    if (member.me >= distance) {
      s.receive(static_cast<std::uint32_t>(member.me - distance), other);
      s.combine_before(other, value);
      if (!inclusive) {
        distance == 1 ? s.copy(other, output(0, bytes)) : s.combine_before(other, output(0, bytes));
      }
    }
    s.end_round();
  }
  return s;
}

}  // namespace am::schedule
