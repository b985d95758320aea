// What a process pays for those that it never talks to, in jobs that no machine of ours could
// start.
#include "tests/am/job/large_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using am::test::memory_of_job;
using am::test::Used;

// Room for the frames of far peers is the same in both, and so is all else that does not grow.
constexpr std::uint32_t kFew = 1024;
constexpr std::uint32_t kMany = 33792;

// What libfabric 1.17 writes to when it makes the queue of completions, which has room for 4 frames
// and 8 accesses of each far peer: 8 bytes for each of a power of two of these. Not counted: it is
// there for those who are talked to.
double queue_bytes(std::uint32_t size) {
  return 8.0 * static_cast<double>(std::bit_ceil(std::uint64_t{12} * size));
}

// Bytes for each process, with `near` of them on every node.
double bytes_a_peer(std::uint32_t near) {
  const auto largest = [near](std::uint32_t size) {
    std::uint64_t own = 0;
    std::uint64_t shared = 0;
    for (const Used& used : memory_of_job(size, near)) {
      own = std::max(own, used.own);
      shared = std::max(shared, used.shared);
    }
    std::printf("%u processes, %u a node: %ju bytes of its own, %ju of shared pages\n", size, near,
                std::uintmax_t{own}, std::uintmax_t{shared});
    return static_cast<double>(own + shared) - queue_bytes(size);
  };
  const double few = largest(kFew);
  const double each = (largest(kMany) - few) / (kMany - kFew);
  std::printf("%.1f bytes for each process\n", each);
  return each;
}

TEST(LargeJob, knows_a_peer_by_what_nobody_could_make_up) { EXPECT_LT(bytes_a_peer(1), 48); }

TEST(LargeJob, knows_each_peer_once_a_node) { EXPECT_LT(bytes_a_peer(4), 16); }

}  // namespace
