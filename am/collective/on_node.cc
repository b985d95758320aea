// Collective calls of members of one node, by what they publish and read.

#include <cstdint>

#include "am/collective/algorithms.h"

namespace am::schedule::on_node {
namespace {

// f(member) for all others, each member beginning with another one.
template <class F>
void for_others(Member member, F&& f) {
  for (std::uint32_t i = 1; i < member.size; ++i) f((member.me + i) % member.size);
}

// to = what the first `count` members have at `offset` of an item, combined in their order.
void combine_all(Schedule& s, std::uint8_t item, std::uint32_t count, std::uint64_t offset,
                 const Range& to) {
  for (std::uint32_t other = 0; other < count; ++other) {
    other == 0 ? s.read(item, other, offset, to) : s.combine_read(item, other, offset, to);
  }
}

// Ends the round, and the next one when all have come to it.
void meet(Schedule& s, Member member) {
  s.end_round();
  const auto item = s.new_item(0, member.size);
  s.publish(item, kAllMembers, {});
  for_others(member, [&](std::uint32_t other) { s.read(item, other, 0, {}); });
}

// The values of the first `count` members, combined, become the output, which may be where the
// input is: what is not copied when it is published all have read before it is written.
void combine_to_output(Schedule& s, Member member, std::uint8_t item, std::uint32_t count,
                       std::uint64_t bytes) {
  const Range sum = s.scratch(bytes);
  combine_all(s, item, count, 0, sum);
  if (bytes > Schedule::kCopied) {
    // Who needs nothing of it says that it has read it, too: the others wait for that.
    if (count == 0) s.read(item, member.me, 0, {});
    meet(s, member);
  }
  if (count != 0) s.copy(sum, output(0, bytes));
}

Range part_of(std::uint32_t who, Member member, const Vector& vector) noexcept {
  const std::uint64_t at = vector.begin(who, member.size);
  return output(at, vector.begin(who + 1, member.size) - at);
}

bool goes_in_parts(Member member, const Vector& vector) noexcept {
  return vector.bytes() > kInParts && vector.elements >= member.size;
}

// What each member has combined, and published as an item: its part of the result.
struct Part {
  std::uint8_t item;
  Range sum;
};
// `publishers`: of the item.
Part combine_part(Schedule& s, Member member, const Vector& vector, std::uint32_t publishers) {
  const auto inputs = s.new_item(vector.bytes(), member.size);
  s.publish(inputs, kAllMembers, input(0, vector.bytes()));
  const Range mine = part_of(member.me, member, vector);
  const Range sum = s.scratch(mine.bytes);
  combine_all(s, inputs, member.size, mine.offset, sum);
  s.end_round();
  const std::uint64_t largest =
      (vector.elements + member.size - 1) / member.size * vector.element_bytes;
  return {s.new_item(largest, publishers), sum};
}
// The output may be where the input is: each reads, and writes, what others have combined, and so
// do not read any more.
void read_parts(Schedule& s, Member member, const Vector& vector, const Part& mine) {
  for_others(member, [&](std::uint32_t other) {
    s.read(mine.item, other, 0, part_of(other, member, vector));
  });
  s.copy(mine.sum, part_of(member.me, member, vector));
}

}  // namespace

Schedule barrier(Member member) {
  Schedule s;
  meet(s, member);
  s.end_round();
  return s;
}

Schedule broadcast(Member member, std::uint32_t root, std::uint64_t bytes) {
  Schedule s;
  const auto item = s.new_item(bytes, 1);
  if (member.me == root) {
    s.publish(item, kAllMembers, input(0, bytes));
    s.copy(input(0, bytes), output(0, bytes));
  } else {
    s.read(item, root, 0, output(0, bytes));
  }
  s.end_round();
  return s;
}

Schedule reduce(Member member, std::uint32_t root, const Vector& vector) {
  Schedule s;
  if (goes_in_parts(member, vector)) {
    const Part mine = combine_part(s, member, vector, member.size - 1);
    member.me == root ? read_parts(s, member, vector, mine) : s.publish(mine.item, root, mine.sum);
  } else {
    const auto item = s.new_item(vector.bytes(), member.size);
    s.publish(item, root, input(0, vector.bytes()));
    if (member.me == root) {
      const Range sum = s.scratch(vector.bytes());
      combine_all(s, item, member.size, 0, sum);
      s.copy(sum, output(0, vector.bytes()));
    }
  }
  s.end_round();
  return s;
}

Schedule all_reduce(Member member, const Vector& vector) {
  Schedule s;
  if (goes_in_parts(member, vector)) {
    const Part mine = combine_part(s, member, vector, member.size);
    s.publish(mine.item, kAllMembers, mine.sum);
    read_parts(s, member, vector, mine);
  } else {
    const auto item = s.new_item(vector.bytes(), member.size);
    s.publish(item, kAllMembers, input(0, vector.bytes()));
    combine_to_output(s, member, item, member.size, vector.bytes());
  }
  s.end_round();
  return s;
}

Schedule scan(Member member, std::uint64_t bytes, Scan kind) {
  Schedule s;
  const auto item = s.new_item(bytes, 0);
  s.publish(item, kAllMembers, input(0, bytes));
  combine_to_output(s, member, item, member.me + (kind == Scan::kInclusive ? 1 : 0), bytes);
  s.end_round();
  return s;
}

Schedule gather(Member member, std::uint32_t root, std::uint64_t bytes) {
  Schedule s;
  const auto item = s.new_item(bytes, member.size - 1);
  if (member.me != root) {
    s.publish(item, root, input(0, bytes));
  } else {
    for_others(member,
               [&](std::uint32_t other) { s.read(item, other, 0, output(other * bytes, bytes)); });
    s.copy(input(0, bytes), output(member.me * bytes, bytes));
  }
  s.end_round();
  return s;
}

Schedule all_gather(Member member, std::uint64_t bytes) {
  Schedule s;
  const auto item = s.new_item(bytes, member.size, member.size <= 2);
  s.publish(item, kAllMembers, input(0, bytes));
  for_others(member,
             [&](std::uint32_t other) { s.read(item, other, 0, output(other * bytes, bytes)); });
  s.copy(input(0, bytes), output(member.me * bytes, bytes));
  s.end_round();
  return s;
}

Schedule all_to_all(Member member, std::uint64_t bytes) {
  Schedule s;
  // Of two members only what is for the other: 64 KiB each 10.7 us, and 12 with all of it.
  const bool is_pair = member.size == 2;
  const Range given =
      is_pair ? input((1 - member.me) * bytes, bytes) : input(0, member.size * bytes);
  const auto item = s.new_item(given.bytes, member.size, true);
  s.publish(item, kAllMembers, given);
  for_others(member, [&](std::uint32_t other) {
    s.read(item, other, is_pair ? 0 : member.me * bytes, output(other * bytes, bytes));
  });
  s.copy(input(member.me * bytes, bytes), output(member.me * bytes, bytes));
  s.end_round();
  return s;
}

Schedule all_to_all_varying(Member member, std::uint64_t input_bytes,
                            std::span<const std::uint64_t> their_at,
                            std::span<const std::uint64_t> output_at) {
  Schedule s;
  // Room for as many as it may be: what others give is not known here.
  const auto item = s.new_item(~std::uint64_t{0}, member.size, true);
  const auto block = [&](std::uint32_t other) {
    return output(output_at[other], output_at[other + 1] - output_at[other]);
  };
  s.publish(item, kAllMembers, input(0, input_bytes));
  for_others(member,
             [&](std::uint32_t other) { s.read(item, other, their_at[other], block(other)); });
  const Range mine = block(member.me);
  s.copy(input(their_at[member.me], mine.bytes), mine);
  s.end_round();
  return s;
}

}  // namespace am::schedule::on_node
