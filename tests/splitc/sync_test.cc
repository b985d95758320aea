#include "splitc/world/sync.h"

#include <gtest/gtest.h>

#include "splitc/splitc.h"
#include "tests/splitc/nodes.h"

// What sync() promises about order, by litmus tests: each counts outcomes over many rounds and
// expects that the forbidden one is not among them. Processes beyond the second sleep meanwhile.

namespace {

using namespace splitc;

// Lets the two first processes begin a round as near to each other as can be, without the barrier,
// whose wake-ups would set them apart.
class Start {
 public:
  Start() : flags_(all_spread_malloc<std::int64_t>(procs())) {}
  ~Start() { all_spread_free(flags_); }
  void meet(std::int64_t round) {
    *flags_.on(my_proc()) = round;
    const global_ptr<std::int64_t> other = flags_.on(1 - my_proc());
    wait_until([&] { return *other >= round; });
  }

 private:
  spread_ptr<std::int64_t> flags_;
};

// Many words a round: the two run through them side by side and now and then are at the same one.
// (Without the fence of sync() this fails in the release build; the checks of the other are slow
// enough to hide it.)
TEST(Sync, store_buffering_is_forbidden) {
  constexpr int kWords = 4096;
  const int words = test::times(kWords, 20);
  Start start;
  const auto x = all_spread_malloc<std::int32_t>(kWords * procs());
  const auto seen = all_spread_malloc<std::int32_t>(kWords * procs());
  const std::uint32_t other = 1 - my_proc() % 2;
  for (int round = 1; round <= 30; ++round) {
    if (procs() > 1 && my_proc() < 2) {
      const global_ptr<std::int32_t> mine = x.on(my_proc());
      const global_ptr<std::int32_t> theirs = x.on(other);
      std::int32_t* const result = seen.mine();
      start.meet(round);
      // mine = round; sync; read theirs  |  the same over there: not both see the old value
      for (int i = 0; i < words; ++i) {
        put(mine + i, round);
        sync();
        get(result[i], theirs + i);
      }
      sync();
    }
    barrier();
    for (int i = 0; i < words && procs() > 1; ++i) {
      const std::int32_t a = seen.on(0)[i];
      const std::int32_t b = seen.on(1)[i];
      ASSERT_TRUE(a == round || b == round) << "round " << round << ", word " << i;
    }
    barrier();
  }
  all_spread_free(seen);
  all_spread_free(x);
}

TEST(Sync, a_message_behind_a_sync_is_not_seen_before_its_data) {
  const auto data = all_spread_malloc<std::int64_t>(8 * procs());
  const auto flag = all_spread_malloc<std::int64_t>(procs());
  const auto done = all_spread_malloc<std::int64_t>(procs());
  const std::uint32_t last = procs() - 1;
  const std::int64_t rounds = test::times(1000, 50);
  for (std::int64_t i = 1; i <= rounds; ++i) {
    if (my_proc() == 0) {
      for (int k = 0; k < 8; ++k) put(data.on(last) + k, i * 8 + k);
      sync();
      put(flag.on(last), i);
      sync();
    }
    if (my_proc() == last) {
      wait_until([&] { return *flag.on(last) == i; });
      for (int k = 0; k < 8; ++k) {
        std::int64_t value = 0;
        get(value, data.on(last) + k);
        sync();
        ASSERT_EQ(value, i * 8 + k);
      }
      *done.on(0) = i;
    }
    if (my_proc() == 0) wait_until([&] { return *done.on(0) == i; });
  }
  barrier();
  all_spread_free(done);
  all_spread_free(flag);
  all_spread_free(data);
}

TEST(Sync, own_reads_and_writes_are_in_program_order) {
  const auto a = all_spread_malloc<std::int64_t>(procs());
  const global_ptr<std::int64_t> p = a.on(procs() - 1 - my_proc());
  for (std::int64_t i = 0; i < 100; ++i) {
    *p = i;
    ASSERT_EQ(static_cast<std::int64_t>(*p), i);
  }
  all_spread_free(a);
}

TEST(Sync, a_blocking_write_publishes_what_came_before) {
  const auto words = all_spread_malloc<std::int64_t>(2 * procs());
  const global_ptr<std::int64_t> data = words.on(procs() - 1);
  const global_ptr<std::int64_t> flag = data + 1;
  const std::int64_t rounds = test::times(20000, 300);
  if (my_proc() == 0) {
    for (std::int64_t i = 1; i <= rounds; ++i) {
      *data = i;
      *flag = i;
    }
  } else {
    std::int64_t seen = 0;
    wait_until([&] {
      seen = *flag;
      EXPECT_GE(static_cast<std::int64_t>(*data), seen);
      return seen == rounds;
    });
  }
  barrier();
  all_spread_free(words);
}

TEST(Sync, is_immediate_where_gets_and_puts_are_memory_accesses) {
  const auto a = all_spread_malloc<int>(procs());
  int x = 0;
  const handle h = get(x, a.on(my_proc()));
  EXPECT_TRUE(try_sync(h));
  EXPECT_TRUE(try_sync());
  EXPECT_TRUE(is_sync());
  sync(put(a.on(my_proc()), 4));
  sync(handle());
  EXPECT_EQ(static_cast<int>(*a.on(my_proc())), 4);
  barrier();
  all_spread_free(a);
}

TEST(Sync, is_found_beside_the_function_of_the_same_name_in_posix) {
  sync();
  splitc::sync();
  [] { sync(); }();
}

}  // namespace
