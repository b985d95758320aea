// Large stores that repeat are given put channels of their own, and nobody sees a difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "am/am.h"
#include "am/job/config/config.h"
#include "splitc/splitc.h"
#include "tests/splitc/neighbors.h"

namespace splitc {
namespace learning_test {

constexpr std::size_t kBytes = 40'000;
constexpr int kTimes = 10;

bool learns() { return world().job().config().learn && world().job().config().rma; }

TEST(Learning, of_a_store_that_repeats_keeps_its_data_and_count) {
  const auto room = all_spread_malloc<std::uint8_t>(kBytes * procs());
  std::uint8_t* const own = tolocal(global_ptr<std::uint8_t>(my_proc(), room.offset()));
  const bool far = detail::is_far(test::right());
  std::vector<std::uint8_t> mine(kBytes);
  const am::LearningStats before = learned_stores();
  for (int time = 0; time < kTimes; ++time) {
    std::iota(mine.begin(), mine.end(), static_cast<std::uint8_t>(my_proc() * 50 + time));
    bulk_store(global_ptr<std::uint8_t>(test::right(), room.offset()), std::span(mine));
    std::fill(mine.begin(), mine.end(), 0);  // may be reused on return
    store_sync(kBytes);
    for (std::size_t i = 0; i < kBytes; ++i) {
      ASSERT_EQ(own[i], static_cast<std::uint8_t>(test::left() * 50 + time + i));
    }
    barrier();
  }
  all_store_sync();
  const am::LearningStats after = learned_stores();
  if (far && learns()) {
    EXPECT_EQ(after.channels - before.channels, 1u);
    EXPECT_GT(after.puts - before.puts, 0u);
    EXPECT_LE(after.puts - before.puts, static_cast<std::uint64_t>(kTimes - 3));
  } else {
    EXPECT_EQ(after.puts, before.puts);
  }
  all_spread_free(room);
}

// From where on docs/channels.md says.
TEST(Learning, begins_where_stores_are_no_longer_packets) {
  const bool rxm = world().job().config().provider == "tcp;ofi_rxm";
  const std::size_t packets = (rxm ? 8 : 16) << 10;
  const auto room = all_spread_malloc<std::uint8_t>(2 * packets * procs());
  const std::vector<std::uint8_t> mine(packets + 1, 9);
  const bool far = detail::is_far(test::right());
  for (const std::size_t bytes : {packets, packets + 1}) {
    const am::LearningStats before = learned_stores();
    for (int time = 0; time < kTimes; ++time) {
      bulk_store(global_ptr<std::uint8_t>(test::right(), room.offset()), mine.data(), bytes);
      store_sync(bytes);
      barrier();
    }
    all_store_sync();
    const bool learned = far && learns() && bytes > packets;
    EXPECT_EQ(learned_stores().channels - before.channels, learned ? 1u : 0u) << bytes;
  }
  all_spread_free(room);
}

TEST(Learning, leaves_alone_what_does_not_repeat) {
  const auto room = all_spread_malloc<std::uint8_t>(2 * kBytes * procs());
  const std::vector<std::uint8_t> mine(2 * kBytes, 9);
  const am::LearningStats before = learned_stores();
  for (std::uint64_t time = 0; time < kTimes; ++time) {
    const std::size_t bytes = kBytes + 1 + time;  // another size each time
    bulk_store(global_ptr<std::uint8_t>(test::right(), room.offset()), mine.data(), bytes);
    bulk_store(global_ptr<std::uint8_t>(test::right(), room.offset() + time), mine.data(),
               kBytes + 99);
  }
  all_store_sync();
  EXPECT_EQ(learned_stores().channels, before.channels);
  EXPECT_EQ(learned_stores().puts, before.puts);
  all_spread_free(room);
}

}  // namespace learning_test
}  // namespace splitc
