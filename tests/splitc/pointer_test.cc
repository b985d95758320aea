#include <gtest/gtest.h>

#include <random>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;

struct Node {
  double value;
  std::int32_t color;
  std::int32_t degree[3];
};

TEST(GlobalPtr, null_is_all_zero_and_false) {
  EXPECT_FALSE(global_ptr<int>());
  EXPECT_FALSE(global_ptr<int>(nullptr));
  EXPECT_EQ(global_ptr<int>().bits(), 0u);
  EXPECT_TRUE(global_ptr<int>(0, 64));
  EXPECT_TRUE(global_ptr<int>(0, 0));
  EXPECT_FALSE(global_ptr<const int>(global_ptr<int>()));
  EXPECT_FALSE(global_ptr<char>(global_ptr<int>()));
  EXPECT_FALSE(global_ptr<int>(spread_ptr<int>()));
}

TEST(GlobalPtr, of_the_last_process_and_offset_gives_both_back) {
  constexpr std::uint32_t kLast = (1u << 24) - 2;  // one number is that of the null pointer
  constexpr std::uint64_t kEnd = (std::uint64_t{1} << 40) - 1;
  EXPECT_EQ(global_ptr<char>(kLast, kEnd).proc(), kLast);
  EXPECT_EQ(global_ptr<char>(kLast, kEnd).offset(), kEnd);
  EXPECT_EQ(global_ptr<char>::from_bits(global_ptr<char>(5, 7).bits()), global_ptr<char>(5, 7));
}

TEST(GlobalPtr, arithmetic_stays_on_its_process) {
  const global_ptr<double> p(procs() - 1, 4096);
  EXPECT_EQ((p + 5).proc(), procs() - 1);
  EXPECT_EQ((p + 5).offset(), 4096u + 40);
  EXPECT_EQ((5 + p) - p, 5);
  EXPECT_EQ(p - (p + 7), -7);
  EXPECT_LT(p, p + 1);
  EXPECT_EQ(p + 3 - 3, p);
  global_ptr<double> q = p;
  EXPECT_EQ(q++, p);
  EXPECT_EQ(--q, p);
  EXPECT_EQ(++q, p + 1);
  EXPECT_EQ(q--, p + 1);
  EXPECT_EQ(&p[3], p + 3);
}

TEST(GlobalPtr, orders_by_process_first) {
  EXPECT_LT(global_ptr<char>(0, 100000), global_ptr<char>(1, 64));
}

TEST(GlobalPtr, changes_type_on_request_and_const_by_itself) {
  const global_ptr<double> p(0, 4096);
  const global_ptr<const double> c = p;
  EXPECT_EQ(c.bits(), p.bits());
  const global_ptr<char> bytes(p);
  EXPECT_EQ((bytes + 8).bits(), (p + 1).bits());
}

TEST(GlobalPtr, of_void_carries_bytes_in_bulk) {
  const auto a = all_spread_malloc<int>(procs());
  const global_ptr<void> p(a.on(my_proc()));
  const int value = 77;
  int back = 0;
  bulk_write(p, &value, sizeof value);
  bulk_read(&back, p, sizeof back);
  EXPECT_EQ(back, 77);
  EXPECT_EQ(global_ptr<int>(p), a.on(my_proc()));
  barrier();
  all_spread_free(a);
}

TEST(GlobalPtr, reaches_members_of_structs) {
  const auto nodes = all_spread_malloc<Node>(procs());
  const global_ptr<Node> mine = nodes.on(my_proc());
  *mine = Node{1.5 + my_proc(), 7, {1, 2, 3}};
  barrier();
  const global_ptr<Node> other = nodes.on(test::right());
  EXPECT_EQ(static_cast<double>(*other.member(&Node::value)), 1.5 + test::right());
  EXPECT_EQ(static_cast<std::int32_t>(*other.member(&Node::color)), 7);
  EXPECT_EQ(other.member(&Node::color).offset() - other.offset(), offsetof(Node, color));
  all_spread_free(nodes);
}

TEST(GlobalPtr, converts_from_and_to_local_pointers) {
  int* const mine = local_malloc<int>(10);
  mine[3] = 42;
  const global_ptr<int> p = toglobal(mine + 3);
  EXPECT_EQ(toproc(p), my_proc());
  EXPECT_EQ(static_cast<int>(*p), 42);
  EXPECT_EQ(tolocal(p), mine + 3);
  EXPECT_EQ(toglobal(procs() - 1, mine).offset(), toglobal(mine).offset());
  local_free(mine);
}

TEST(GlobalRef, adds_and_assigns_like_the_object) {
  const auto a = all_spread_malloc<int>(procs());
  const global_ptr<int> p = a.on(my_proc());
  *p = 5;
  *p += 4;
  *p -= 1;
  *p *= 6;
  *p /= 4;
  EXPECT_EQ(static_cast<int>(*p), 12);
  p[0] = *p;
  EXPECT_EQ(*p + 1, 13);
  all_spread_free(a);
}

// Element i of the memory that a spread pointer walks through.
spread_ptr<std::int64_t> element(std::uint64_t offset, std::int64_t i) {
  const auto n = static_cast<std::int64_t>(procs());
  return {static_cast<std::uint32_t>(i % n), offset + static_cast<std::uint64_t>(i / n) * 8};
}

TEST(SpreadPtr, walks_over_the_processes_and_wraps) {
  std::mt19937_64 random(test::seed());
  const spread_ptr<std::int64_t> first(0, 1 << 20);
  for (int step = 0; step < 2000; ++step) {
    const auto i = static_cast<std::int64_t>(random() % 1000);
    const auto j = static_cast<std::int64_t>(random() % 1000);
    const auto p = element(1 << 20, i);
    const auto q = element(1 << 20, j);
    ASSERT_EQ(first + i, p);
    ASSERT_EQ(p + (j - i), q);
    ASSERT_EQ(q - (j - i), p);
    ASSERT_EQ(q - p, j - i);
    ASSERT_EQ(p < q, i < j);
    ASSERT_EQ(p == q, i == j);
    ASSERT_EQ(p >= q, i >= j);
  }
}

TEST(SpreadPtr, steps_one_by_one) {
  spread_ptr<std::int64_t> p(0, 4096);
  for (std::int64_t i = 0; i < 3 * static_cast<std::int64_t>(procs()); ++i) {
    ASSERT_EQ(p, element(4096, i));
    ASSERT_EQ(p++, element(4096, i));
  }
  for (std::int64_t i = 3 * static_cast<std::int64_t>(procs()); i > 0; --i) {
    ASSERT_EQ(p--, element(4096, i));
    ASSERT_EQ(p, element(4096, i - 1));
  }
}

TEST(SpreadPtr, becomes_a_global_pointer_that_stays) {
  const spread_ptr<int> a = all_spread_malloc<int>(4 * procs());
  for (std::size_t i : my_1d(4 * procs())) a[static_cast<std::ptrdiff_t>(i)] = static_cast<int>(i);
  barrier();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const global_ptr<int> part(a + proc);
    EXPECT_EQ(part, a.on(proc));
    for (std::uint32_t k = 0; k < 4; ++k) {
      EXPECT_EQ(static_cast<int>(part[k]), static_cast<int>(k * procs() + proc));
    }
  }
  EXPECT_EQ(tolocal(a + my_proc()), a.mine());
  EXPECT_EQ(toproc(a + (procs() - 1)), procs() - 1);
  all_spread_free(a);
}

TEST(SpreadPtr, is_null_only_when_it_points_nowhere) {
  spread_ptr<int> p;
  EXPECT_FALSE(p);
  EXPECT_EQ(p, nullptr);
  EXPECT_FALSE(p + 3);
  test::expect_error([&] { p[3] = 1; }, {"write: the pointer is null"});
  EXPECT_FALSE(spread_ptr<void>(p));
  EXPECT_EQ(spread_ptr<void>(p), nullptr);
  EXPECT_NE(spread_ptr<void>(1, 64), spread_ptr<void>(0, 64));
  EXPECT_FALSE(spread_ptr<const int>(p));
  EXPECT_FALSE(spread_ptr<int>(spread_ptr<void>()));
  p = spread_ptr<int>(all_spread_malloc(procs(), sizeof(int)));
  EXPECT_TRUE(p);
  all_spread_free(p);
  all_spread_free(spread_ptr<int>());
}

}  // namespace
