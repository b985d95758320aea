#pragma once

#include <cstdint>
#include <span>

#include "am/collective/schedule.h"

// Collective calls as schedules: each function writes that of one member, and all members of a team
// write theirs with the same arguments but for `me`. They know neither memory nor network: which is
// best for how many bytes and members, and over what, is chosen elsewhere.
//
// Buffers: `bytes` is the input of each member, unless it says otherwise. P is the number of
// members, lg its logarithm, rounded up. Costs are those of the member that has most to do.
//
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 19 (2005); Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for
// all-to-all communications in multiport message-passing systems", IEEE TPDS 8 (1997); Hensgen,
// Finkel, Manber, "Two algorithms for barrier synchronization", IJPP 17 (1988).

namespace am::schedule {

struct Member {
  std::uint32_t size;  // of the team, at least 1
  std::uint32_t me;
};

// Elements that are combined one by one, and divided among members as evenly as they can be.
struct Vector {
  std::uint64_t elements;
  std::uint64_t element_bytes;

  std::uint64_t bytes() const noexcept { return elements * element_bytes; }
  // Where block `number` of `count` begins, in bytes; that of `count` is the end.
  std::uint64_t begin(std::uint64_t number, std::uint64_t count) const noexcept {
    // elements * number / count; `number` and `count` are below 2^32, so no product overflows.
    return (elements / count * number + elements % count * number / count) * element_bytes;
  }
};

// Nobody leaves before all have come: lg rounds of a signal each.
Schedule barrier(Member member);

// The root's input becomes the output of all.
// Down a binomial tree, from each to up to lg members, the largest subtree first. lg hops.
Schedule broadcast_tree(Member member, std::uint32_t root, std::uint64_t bytes);
// A block to each, down a tree, and then the blocks around a ring: lg + P - 1 hops, and the root
// sends twice the bytes.
Schedule broadcast_scattered(Member member, std::uint32_t root, const Vector& vector);

// Reductions combine in the order of the members, so any associative operation will do, and every
// member that gets the result has the same bits, in every run.
//
// All inputs, combined, become the root's output.
// Up a tree: as broadcast_tree(), and one hop more, unless 0 is the root.
Schedule reduce_tree(Member member, std::uint32_t root, std::uint64_t bytes);
// By halves, then collected: 2 lg hops, and each sends twice the bytes.
Schedule reduce_halving(Member member, std::uint32_t root, const Vector& vector);

// All inputs, combined, become the output of all.
// All bytes in each of lg hops, and 2 more unless P is a power of 2.
Schedule all_reduce_doubling(Member member, std::uint64_t bytes);
// By halves: 2 lg hops, each sends twice the bytes; and 2 hops of all bytes unless P is a power of
// 2.
Schedule all_reduce_halving(Member member, const Vector& vector);

// The inputs of the members up to this one, combined in their order; or of those before it, and
// then the output of member 0 is left alone.
enum class Scan : std::uint8_t { kInclusive, kExclusive };
// lg hops of all bytes, and P lg messages in all.
Schedule scan(Member member, std::uint64_t bytes, Scan kind);
// From each to the next: P - 1 hops, and as many messages in all. With the bits of a loop. `reads`:
// all are of one node, and each reads what the one before it has published.
Schedule scan_chain(Member member, std::uint64_t bytes, Scan kind, bool reads = false);

// Reductions and scans of few bytes: the parts are gathered, P times `bytes` in all, and combined
// from the first member to the last one by each that gets a result, so that the bits are those of a
// loop. lg hops.
Schedule reduce_gathered(Member member, std::uint32_t root, std::uint64_t bytes);
Schedule all_reduce_gathered(Member member, std::uint64_t bytes);
Schedule scan_gathered(Member member, std::uint64_t bytes, Scan kind);

// The inputs, one behind the other, become the root's output. Up a tree, in which each receives
// from up to (radix - 1) members of each of its levels; `radix` is at least 2, and of P all send to
// the root. The bytes of inner members are copied once.
Schedule gather_tree(Member member, std::uint32_t root, std::uint64_t bytes, std::uint32_t radix);

// The inputs, one behind the other, become the output of all.
Schedule all_gather_bruck(Member member, std::uint64_t bytes);  // lg hops, and a copy of it all
Schedule all_gather_ring(Member member, std::uint64_t bytes);   // P - 1 hops

// The input is a block of `bytes` for each member; the output one of each. Not in place.
// P - 1 messages of a block, 4 of them in a round.
Schedule all_to_all_pairwise(Member member, std::uint64_t bytes);
// lg hops of half of all blocks, which are copied at each.
Schedule all_to_all_bruck(Member member, std::uint64_t bytes);
// Blocks of any size: that for member i of the input is [input_at[i], input_at[i + 1]), and that of
// member i of the output likewise. Pairwise, 8 in a round.
Schedule all_to_all_varying(Member member, std::span<const std::uint64_t> input_at,
                            std::span<const std::uint64_t> output_at);

// --- Of members of one node, each of which reads what the others publish: one hop, or two where
// the members combine a part each and then read one another's results. Each byte moves once.
namespace on_node {

Schedule barrier(Member member);
Schedule broadcast(Member member, std::uint32_t root, std::uint64_t bytes);
// Above so many bytes a reduction is divided among the members.
inline constexpr std::uint64_t kInParts = 4096;
Schedule reduce(Member member, std::uint32_t root, const Vector& vector);
Schedule all_reduce(Member member, const Vector& vector);
// Above Schedule::kCopied bytes it waits for all members.
Schedule scan(Member member, std::uint64_t bytes, Scan kind);
Schedule gather(Member member, std::uint32_t root, std::uint64_t bytes);
Schedule all_gather(Member member, std::uint64_t bytes);
Schedule all_to_all(Member member, std::uint64_t bytes);
// Blocks of any size: that of member i begins at their_at[i] of its input, and lies at
// [output_at[i], output_at[i + 1]) of the output of this one.
Schedule all_to_all_varying(Member member, std::uint64_t input_bytes,
                            std::span<const std::uint64_t> their_at,
                            std::span<const std::uint64_t> output_at);

}  // namespace on_node

}  // namespace am::schedule
