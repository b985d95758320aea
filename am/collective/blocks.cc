// Collective calls that move a block of each member: around a ring, pairwise, and Bruck's.

#include <algorithm>
#include <cstdint>
#include <span>

#include "am/collective/algorithms.h"

namespace am::schedule {
namespace {

// The member so far behind this one, and before it, around the ring.
std::uint32_t behind(Member member, std::uint64_t distance) noexcept {
  return static_cast<std::uint32_t>((member.me + distance) % member.size);
}
std::uint32_t before(Member member, std::uint64_t distance) noexcept {
  return static_cast<std::uint32_t>((member.me + member.size - distance) % member.size);
}

// Sends given(who) to each `who`, and gets got(who) of each, `at_once` of them in a round.
template <class Given, class Got>
Schedule exchange(Member member, std::uint32_t at_once, const Given& given, const Got& got) {
  Schedule s;
  s.copy(given(member.me), got(member.me));
  for (std::uint32_t i = 1; i < member.size; ++i) {
    s.send(behind(member, i), given(behind(member, i)));
    s.receive(before(member, i), got(before(member, i)));
    if (i % at_once == 0) s.end_round();
  }
  s.end_round();
  return s;
}

// The first `count` of `blocks` combined, in their order.
void fold(Schedule& s, const Range& blocks, std::uint64_t bytes, std::uint32_t count) {
  if (count == 0) return;
  s.copy(blocks.part(0, bytes), output(0, bytes));
  for (std::uint32_t i = 1; i < count; ++i) {
    s.combine_behind(blocks.part(i * bytes, bytes), output(0, bytes));
  }
  s.end_round();
}

// The blocks of all, at each.
Range gathered(Schedule& s, Member member, std::uint64_t bytes) {
  const Range blocks = s.scratch(member.size * bytes);
  s.append(all_gather_bruck(member, bytes),
           {.members = {}, .input = input(0, bytes), .output = blocks});
  return blocks;
}

}  // namespace

Schedule reduce_gathered(Member member, std::uint32_t root, std::uint64_t bytes) {
  Schedule s;
  const bool is_root = member.me == root;
  const Range blocks = s.scratch(is_root ? member.size * bytes : 0);
  s.append(gather_tree(member, root, bytes, 2),
           {.members = {}, .input = input(0, bytes), .output = blocks});
  if (is_root) fold(s, blocks, bytes, member.size);
  return s;
}

Schedule all_reduce_gathered(Member member, std::uint64_t bytes) {
  Schedule s;
  fold(s, gathered(s, member, bytes), bytes, member.size);
  return s;
}

Schedule scan_gathered(Member member, std::uint64_t bytes, Scan kind) {
  Schedule s;
  fold(s, gathered(s, member, bytes), bytes, member.me + (kind == Scan::kInclusive ? 1 : 0));
  return s;
}

Schedule all_gather_ring(Member member, std::uint64_t bytes) {
  const auto block = [&](std::uint64_t number) { return output(number * bytes, bytes); };
  Schedule s;
  s.copy(input(0, bytes), block(member.me));
  s.end_round();
  // Each goes to the next member, and what comes from the one before goes there in the next round.
  for (std::uint32_t i = 0; i + 1 < member.size; ++i) {
    s.send(behind(member, 1), block(before(member, i)));
    s.receive(before(member, 1), block(before(member, std::uint64_t{i} + 1)));
    s.end_round();
  }
  return s;
}

Schedule all_gather_bruck(Member member, std::uint64_t bytes) {
  const std::uint64_t size = member.size;
  Schedule s;
  const Range from_me_on = s.scratch(size * bytes);  // blocks of this member and those behind it
  s.copy(input(0, bytes), from_me_on.part(0, bytes));
  s.end_round();
  for (std::uint64_t have = 1; have < size; have *= 2) {
    const std::uint64_t moved = std::min(have, size - have) * bytes;
    s.send(before(member, have), from_me_on.part(0, moved));
    s.receive(behind(member, have), from_me_on.part(have * bytes, moved));
    s.end_round();
  }
  const std::uint64_t first = (size - member.me) * bytes;
  const std::uint64_t rest = member.me * bytes;
  s.copy(from_me_on.part(0, first), output(rest, first));
  s.copy(from_me_on.part(first, rest), output(0, rest));
  s.end_round();
  return s;
}

Schedule all_to_all_pairwise(Member member, std::uint64_t bytes) {
  return exchange(
      member, 4, [&](std::uint32_t who) { return input(who * bytes, bytes); },
      [&](std::uint32_t who) { return output(who * bytes, bytes); });
}

Schedule all_to_all_varying(Member member, std::span<const std::uint64_t> input_at,
                            std::span<const std::uint64_t> output_at) {
  return exchange(
      member, 8,
      [&](std::uint32_t who) { return input(input_at[who], input_at[who + 1] - input_at[who]); },
      [&](std::uint32_t who) {
        return output(output_at[who], output_at[who + 1] - output_at[who]);
      });
}

Schedule all_to_all_bruck(Member member, std::uint64_t bytes) {
  const std::uint64_t size = member.size;
  Schedule s;
  const Range blocks = s.scratch(size * bytes);  // number i travels i members on, bit by bit
  const Range out = s.scratch((size + 1) / 2 * bytes);
  const Range in = s.scratch((size + 1) / 2 * bytes);
  const auto block = [&](const Range& all, std::uint64_t i) { return all.part(i * bytes, bytes); };
  for (std::uint64_t i = 0; i < size; ++i) {
    s.copy(input(behind(member, i) * bytes, bytes), block(blocks, i));
  }
  for (std::uint64_t distance = 1; distance < size; distance *= 2) {
    std::uint64_t count = 0;
    for (std::uint64_t i = distance; i < size; ++i) {
      if ((i & distance) != 0) s.copy(block(blocks, i), block(out, count++));
    }
    s.end_round();
    s.send(behind(member, distance), out.part(0, count * bytes));
    s.receive(before(member, distance), in.part(0, count * bytes));
    for (std::uint64_t i = size; i-- > distance;) {
      if ((i & distance) != 0) s.copy(block(in, --count), block(blocks, i));
    }
  }
  s.end_round();
  for (std::uint64_t i = 0; i < size; ++i) {
    s.copy(block(blocks, i), output(before(member, i) * bytes, bytes));
  }
  s.end_round();
  return s;
}

}  // namespace am::schedule
