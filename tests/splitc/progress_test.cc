// With SPLITC_PROGRESS=thread a process that computes is no obstacle to others.

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "splitc/splitc.h"
#include "tests/splitc/neighbors.h"

namespace splitc {
namespace progress_test {

constexpr std::uint64_t kAccesses = 100;

TEST(ProgressThread, serves_reads_and_writes_while_nobody_polls) {
  spread_array<std::uint64_t> words(procs());
  spread_array<std::uint64_t> finished(procs());
  barrier();
  if (my_proc() == 0) {
    for (std::uint64_t i = 1; i <= kAccesses; ++i) {
      words[test::right()] = i;
      EXPECT_EQ(words[test::right()], i);
    }
    finished[test::right()] = 1;
  } else if (my_proc() == 1) {
    // Computes: no call of the library until it is done.
    const std::atomic_ref done(*tolocal(&finished[1]));
    // pairs with: the write above
    while (done.load(std::memory_order_acquire) == 0) sched_yield();
  }
  barrier();
  if (my_proc() == 0) {
    EXPECT_EQ(words[test::right()], kAccesses);
  }
}

TEST(ProgressThread, leaves_messages_to_who_polls) {
  spread_array<std::uint64_t> sum(1);
  barrier();
  for (std::uint64_t i = 0; i < kAccesses; ++i) fetch_and_add(sum[0], 1);
  barrier();
  EXPECT_EQ(sum[0], kAccesses * procs());
}

}  // namespace progress_test
}  // namespace splitc
