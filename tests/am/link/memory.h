// What the cases of reading and writing other processes' memory share. Far memory goes through
// RemoteMemory; a neighbour's is there as it is.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/core/far/remote_memory.h"
#include "tests/am/link/oracle.h"
#include "tests/support/job_main.h"

namespace am::conformance {

// The segment: an area for each writer, and behind them a counter for each and words that change.
inline constexpr std::uint64_t kStride = std::uint64_t{12} << 20;
inline constexpr std::uint64_t kCounters = std::uint64_t{128} << 20;
inline constexpr std::uint64_t kWords = kCounters + 4096;

class Memory : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  // So many operations with tickets from 0 are about to be started.
  static void begin(std::size_t tickets);
  static std::vector<std::uint32_t>& done();  // tickets, in the order of their completion
  static bool all_done();
  // Polls until all are, and checks that each was reported once.
  static void wait_for_all();

  static void get(Rank rank, std::uint64_t offset, std::span<std::byte> to, std::uint32_t ticket);
  static void put(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                  std::uint32_t ticket);
  // Into this process's area of `rank`; counted in this process's counter there.
  static void store(Rank rank, std::uint64_t offset, std::span<const std::byte> from);
  static std::uint64_t stored_by(Rank writer);  // bytes, by the counter here
  static void reset_counters();

  static std::byte* mine(std::uint64_t offset);  // this process's memory

  // Fills part of this process's segment with what is expected where nobody writes.
  static void paint(std::uint64_t offset, std::uint64_t bytes);
  static Oracle background(Rank owner);
};

// Pieces that each process writes to the others, at places in its area.
struct Pieces {
  explicit Pieces(std::vector<std::size_t> sizes);
  Oracle oracle(Rank writer, Rank target, std::uint32_t number) const {
    return {purpose, writer, target, first_number + number};
  }
  // That this process's area of `writer` holds them, and is otherwise as it was painted.
  void expect_from(Rank writer) const;

  std::vector<std::size_t> sizes;
  std::vector<std::uint64_t> offsets;  // in the area
  std::uint64_t end;                   // of what is checked
  std::uint64_t bytes = 0;             // of all together
  Purpose purpose = Purpose::kPut;
  std::uint32_t first_number;  // no two have contents in common
};

// All small sizes and those at the limits.
std::vector<std::size_t> all_sizes();

}  // namespace am::conformance
