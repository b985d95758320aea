#include "splitc/collective/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"

namespace {

using namespace splitc;

// So many elements of each, in a job of very many processes as many as there is memory for.
std::size_t at_most(std::size_t n) { return std::min(n, (std::size_t{1} << 20) / procs()); }
// Of one board, of parts of it, and of several.
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> list = {0, 1, 100, 4079, 4080, 4081, 20000};
  for (std::size_t& n : list) n = at_most(n);
  return list;
}

// Word i of what `proc` contributes.
std::uint32_t word(std::uint32_t proc, std::size_t i) {
  return proc * 1000003u + static_cast<std::uint32_t>(i) * 7919u;
}
std::vector<std::uint32_t> contribution(std::uint32_t proc, std::size_t n) {
  std::vector<std::uint32_t> list(n);
  for (std::size_t i = 0; i < n; ++i) list[i] = word(proc, i);
  return list;
}

TEST(Bcast, gives_all_the_value_of_any_root) {
  struct Message {
    char text[20];
    double x;
  };
  for (std::uint32_t root = 0; root < procs(); ++root) {
    EXPECT_EQ(all_bcast(my_proc() * 10 + 1, root), root * 10 + 1);
    Message message{"wrong", 0};
    if (my_proc() == root) message = {"right", 2.5};
    message = all_bcast(message, root);
    EXPECT_STREQ(message.text, "right");
    EXPECT_EQ(message.x, 2.5);
  }
  EXPECT_EQ(all_bcast(my_proc() + 3), 3u);
}

TEST(Bcast, of_spans_of_any_length) {
  for (const std::size_t n : sizes()) {
    for (std::uint32_t root = 0; root < procs(); root += 1 + procs() / 32) {
      std::vector<std::uint32_t> data = contribution(my_proc(), n);
      all_bcast(std::span(data), root);
      ASSERT_EQ(data, contribution(root, n));
    }
  }
}

// Of more than there is memory for copies, whose parts readers take while others are copied.
TEST(Bcast, of_large_spans_follow_one_another) {
  for (const std::size_t n : {at_most(20'000), at_most(40'001), at_most(300'000)}) {
    for (std::uint32_t turn = 0; turn < 6; ++turn) {
      const std::uint32_t root = turn < 3 ? 0 : turn % procs();
      std::vector<std::uint32_t> data = contribution(my_proc() + turn, n);
      all_bcast(std::span(data), root);
      ASSERT_EQ(data, contribution(root + turn, n));
      std::ranges::fill(data, 0);  // the root may, as soon as it is back
    }
  }
}

TEST(Gather, of_large_spans_follow_one_another) {
  const std::size_t n = at_most(100'001);
  for (std::uint32_t turn = 0; turn < 4; ++turn) {
    std::vector<std::uint32_t> mine = contribution(my_proc() + turn, n);
    std::vector<std::uint32_t> all(my_proc() == 0 ? n * procs() : 0);
    all_gather_to_one(std::span(mine), std::span(all));
    std::ranges::fill(mine, 0);
    for (std::uint32_t proc = 0; proc < procs() && my_proc() == 0; ++proc) {
      ASSERT_TRUE(
          std::ranges::equal(std::span(all).subspan(proc * n, n), contribution(proc + turn, n)));
    }
  }
}

TEST(Reduction, of_large_spans_is_that_of_each_element) {
  const std::vector<std::uint32_t> mine = contribution(my_proc(), at_most(100'001));
  std::vector<std::uint32_t> sum(mine.size());
  all_reduce(std::span(mine), std::span(sum), std::plus());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    std::uint32_t expected = 0;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) expected += word(proc, i);
    ASSERT_EQ(sum[i], expected) << i;
  }
}

TEST(Gather, of_values_goes_to_all_or_to_one) {
  struct Pair {
    std::uint32_t a;
    double b;
  };
  const auto all = all_gather(Pair{my_proc(), 0.5});
  ASSERT_EQ(all.size(), procs());
  for (std::uint32_t proc = 0; proc < procs(); ++proc) EXPECT_EQ(all[proc].a, proc);
  const auto one = all_gather_to_one(my_proc() + 5);
  ASSERT_EQ(one.size(), my_proc() == 0 ? procs() : 0);
  for (std::uint32_t proc = 0; proc < one.size(); ++proc) EXPECT_EQ(one[proc], proc + 5);
}

TEST(Gather, of_spans_of_any_length) {
  for (const std::size_t n : sizes()) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      const auto part = contribution(proc, n);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    const auto mine = contribution(my_proc(), n);
    std::vector<std::uint32_t> all(n * procs());
    all_gather(std::span(mine), std::span(all));
    ASSERT_EQ(all, expected);
    std::vector<std::uint32_t> one(my_proc() == 0 ? n * procs() : 0);
    all_gather_to_one(std::span(mine), std::span(one));
    if (my_proc() == 0) {
      ASSERT_EQ(one, expected);
    }
  }
}

TEST(AllToAll, transposes_parts_of_any_length) {
  for (const std::size_t n : sizes()) {
    std::vector<std::uint64_t> to(n * procs());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t proc = n == 0 ? 0 : i / n;
      to[i] = std::uint64_t{my_proc()} << 48 | std::uint64_t{proc} << 32 |
              i % std::max<std::size_t>(n, 1);
    }
    std::vector<std::uint64_t> from(to.size());
    all_to_all(std::span(to), std::span(from));
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::uint64_t proc = i / n;
      ASSERT_EQ(from[i], proc << 48 | std::uint64_t{my_proc()} << 32 | i % n);
    }
  }
}

// Where a process may have what it passes: in its segment, and outside.
class Memory {
 public:
  Memory(std::size_t n, bool in_segment)
      : own_(in_segment ? 0 : n),
        shared_(in_segment ? local_malloc<std::uint32_t>(n + 1) : nullptr),
        all_(in_segment ? shared_ : own_.data(), n) {}
  ~Memory() {
    if (shared_ != nullptr) local_free(shared_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::span<std::uint32_t> all() const { return all_; }

 private:
  std::vector<std::uint32_t> own_;
  std::uint32_t* shared_;
  std::span<std::uint32_t> all_;
};

TEST(Reduction, of_spans_is_that_of_each_element) {
  // Of maps x -> p x + q, of 16 bits each, one after the other: associative, and in order.
  const auto op = [](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t pa = a >> 16, pb = b >> 16;
    return pa * pb << 16 | ((pb * a + b) & 0xffff);
  };
  for (const std::size_t n : sizes()) {
    std::vector<std::uint32_t> expected = contribution(0, n);
    for (std::uint32_t proc = 1; proc < procs(); ++proc) {
      for (std::size_t i = 0; i < n; ++i) expected[i] = op(expected[i], word(proc, i));
    }
    for (const int kind : {0, 1, 2}) {
      const Memory mine(n, kind == 1), result(n, kind != 0);
      for (std::size_t i = 0; i < n; ++i) mine.all()[i] = word(my_proc(), i);
      all_reduce(mine.all(), result.all(), op);
      ASSERT_TRUE(std::ranges::equal(result.all(), expected)) << n << " " << kind;
      ASSERT_TRUE(std::ranges::equal(mine.all(), contribution(my_proc(), n)));
      all_reduce(mine.all(), mine.all(), op);
      ASSERT_TRUE(std::ranges::equal(mine.all(), expected)) << n << " " << kind;
    }
  }
  std::vector<int> three(3);
  test::expect_error([&] { all_reduce(std::span(three), std::span(three).first(2), op); },
                     {"all_reduce: ", "2 elements", "needs 3"});
}

TEST(Collective, memory_may_be_in_segments_or_not) {
  const std::size_t many = at_most(30000);
  for (const bool in_segment : {true, false}) {
    // Some processes differ.
    const Memory mine(many, in_segment != (my_proc() == 1));
    std::ranges::copy(contribution(my_proc(), many), mine.all().begin());
    std::vector<std::uint32_t> all(many * procs());
    all_gather(mine.all(), std::span(all));
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      ASSERT_TRUE(
          std::ranges::equal(std::span(all).subspan(proc * many, many), contribution(proc, many)));
    }
    all_bcast(mine.all(), procs() - 1);
    ASSERT_TRUE(std::ranges::equal(mine.all(), contribution(procs() - 1, many)));
  }
}

TEST(AllToAll, of_varying_parts_gives_each_what_is_for_it) {
  std::mt19937 random(7);  // the same in all processes
  for (const std::size_t wanted : {0, 1, 5, 300, 6000, 40000}) {
    const std::size_t most = at_most(wanted);
    std::vector<std::size_t> all(std::size_t{procs()} * procs());  // sender by sender
    for (std::size_t& count : all) count = random() % 3 == 0 ? 0 : random() % (most + 1);
    const std::span<const std::size_t> counts =
        std::span(all).subspan(std::size_t{my_proc()} * procs(), procs());
    std::vector<std::uint32_t> to;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      for (std::size_t i = 0; i < counts[proc]; ++i) to.push_back(word(my_proc() * 100 + proc, i));
    }
    const auto received = all_to_all_varying(std::span(to), counts);
    std::size_t sum = 0;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      const std::size_t expected = all[std::size_t{proc} * procs() + my_proc()];
      ASSERT_TRUE(
          std::ranges::equal(received.of(proc), contribution(proc * 100 + my_proc(), expected)));
      sum += expected;
    }
    ASSERT_EQ(received.all().size(), sum);
    std::vector<std::uint32_t> into(sum + 2, 7u);
    std::vector<std::size_t> into_counts(procs());
    ASSERT_EQ(all_to_all_varying(to, counts, into, into_counts), sum);
    ASSERT_TRUE(std::ranges::equal(std::span(into).first(sum), received.all()));
    ASSERT_EQ(into[sum], 7u);  // nothing behind them
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      ASSERT_EQ(into_counts[proc], received.of(proc).size());
    }
    ASSERT_EQ(all_to_all_varying(to, counts, std::span(into).first(sum)), sum);
  }
}

TEST(AllToAll, of_varying_parts_refuses_counts_that_do_not_fit) {
  std::vector<int> to(10);
  std::vector<std::size_t> counts(procs(), 0);
  counts[0] = 11;
  test::expect_error([&] { all_to_all_varying(std::span(to), std::span(counts)); },
                     {"all_to_all_varying: the counts do not add up", "40 bytes"});
  counts[0] = ~std::size_t{0};
  test::expect_error([&] { all_to_all_varying(std::span(to), std::span(counts)); },
                     {"all_to_all_varying: "});
  counts.assign(procs(), 0);
  const auto nothing = all_to_all_varying(std::span(to).first(0), std::span(counts));
  EXPECT_TRUE(nothing.all().empty());
  for (const std::uint32_t proc : {procs(), ~std::uint32_t{0}}) {
    test::expect_error([&] { nothing.of(proc); }, {"received_parts::of: there is no process"});
  }
  counts.assign(procs() + 1, 0);
  test::expect_error([&] { all_to_all_varying(std::span(to), std::span(counts)); },
                     {"all_to_all_varying: " + std::to_string(procs() + 1) + " counts for "});
}

// Who has passed too little hears of it, and the others have what is theirs.
TEST(AllToAll, of_varying_parts_into_too_little_room_is_an_error_there_alone) {
  const std::vector<int> to(procs(), static_cast<int>(my_proc()));
  const std::vector<std::size_t> counts(procs(), 1);
  std::vector<int> from(my_proc() == 0 ? procs() - 1 : procs(), -1);
  if (my_proc() == 0) {
    test::expect_error([&] { all_to_all_varying(to, counts, from); },
                       {"all_to_all_varying: there is room for " + std::to_string(procs() - 1) +
                            " elements, and " + std::to_string(procs()) + " came",
                        "pass a larger span"});
    EXPECT_EQ(from, std::vector<int>(procs() - 1, -1));
  } else {
    EXPECT_EQ(all_to_all_varying(to, counts, from), procs());
    EXPECT_EQ(from.back(), static_cast<int>(procs()) - 1);
  }
  std::vector<int> both(2 * procs());
  test::expect_error([&] { all_to_all_varying(std::span(both).first(procs()), counts, both); },
                     {"overlap"});
  std::vector<std::size_t> too_many(procs() + 1);
  test::expect_error([&] { all_to_all_varying(to, counts, both, too_many); },
                     {"there is room for " + std::to_string(procs() + 1) + " counts"});
  EXPECT_EQ(all_to_all_varying(to, counts, both), procs());
}

TEST(Collective, calls_follow_one_another_without_barriers) {
  std::mt19937 random(42);  // the same in all processes
  for (std::uint32_t round = 0; round < 2000; ++round) {
    switch (random() % 5) {
      case 0: ASSERT_EQ(all_bcast(my_proc() + round), round); break;
      case 1: ASSERT_EQ(all_reduce(round, std::plus()), round * procs()); break;
      case 2: ASSERT_EQ(all_gather(my_proc() + round).back(), procs() - 1 + round); break;
      case 3: ASSERT_EQ(all_exscan(1u, std::plus(), 0), my_proc()); break;
      default: barrier();
    }
  }
}

// More of them than there is memory for copies.
TEST(Collective, large_values_are_scanned_again_and_again) {
  using Large = std::array<std::uint32_t, 3000>;
  const auto add = [](Large a, const Large& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  };
  for (std::uint32_t turn = 1; turn <= 30; ++turn) {
    Large mine;
    mine.fill(turn);
    ASSERT_EQ(all_exscan(mine, add, Large{}).back(), my_proc() * turn);
    ASSERT_EQ(all_scan(mine, add).front(), (my_proc() + 1) * turn);
  }
}

TEST(Collective, spans_of_the_wrong_size_are_refused) {
  std::vector<int> three(3 * procs() + 1);
  const std::span<int> all(three);
  test::expect_error(
      [&] { all_gather(all.first(3), all); },
      {"all_gather: ", std::to_string(3 * procs() + 1), std::to_string(3 * procs())});
  test::expect_error([&] { all_to_all(all.first(procs()), all.first(2 * procs())); },
                     {"all_to_all: ", std::to_string(2 * procs())});
  if (procs() > 1) {
    test::expect_error([&] { all_to_all(all, all); }, {"all_to_all: ", "equal parts"});
  }
  test::expect_error([] { return all_bcast(1, procs()); },
                     {"all_bcast: there is no process " + std::to_string(procs())});
}

TEST(Collective, spans_that_overlap_are_refused) {
  std::vector<int> memory(2 * procs() + 4);
  const std::span<int> all(memory);
  const auto refused = [](const std::string& call, const std::function<void()>& make) {
    test::expect_error(make, {call + ": the span for the result and that of the argument overlap"});
  };
  const std::span<int> mine = all.subspan(my_proc() * 2 + 1, 2);
  refused("all_gather", [&] { all_gather(mine, all.first(2 * procs())); });
  refused("all_reduce", [&] { all_reduce(all.first(4), all.subspan(1, 4), std::plus<int>()); });
  refused("all_to_all", [&] { all_to_all(all.first(procs()), all.first(procs())); });
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int>(i);
  all_gather(all.subspan(2 * my_proc(), 2), all.first(2 * procs()));  // its own part
  for (std::size_t i = 0; i < memory.size(); ++i) EXPECT_EQ(memory[i], static_cast<int>(i));
}

// A call that one process makes where none may be made, and that would have prepared for much.
TEST(Collective, refused_calls_leave_what_follows_intact) {
  std::vector<std::uint32_t> mine(at_most(10000), my_proc()), all(mine.size() * procs());
  if (my_proc() == 0) {
    barrier_notify();
    test::expect_error([&] { all_gather(std::span(mine), std::span(all)); },
                       {"all_gather: called between barrier_notify() and"});
    barrier_wait();
  } else {
    barrier();
  }
  all_gather(std::span(mine), std::span(all));
  EXPECT_EQ(all.back(), procs() - 1);
}

// --- Barriers

TEST(Barrier, nobody_passes_before_all_have_come) {
  const auto counters = all_spread_malloc<std::uint32_t>(procs());
  for (std::uint32_t round = 1; round <= 300; ++round) {
    *counters.on(my_proc()) = round;
    barrier();
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      const std::uint32_t seen = *counters.on(proc);
      ASSERT_TRUE(seen == round || seen == round + 1);
    }
    barrier();
  }
  all_spread_free(counters);
}

TEST(Barrier, halves_let_work_happen_between_them) {
  const auto counters = all_spread_malloc<std::uint32_t>(procs());
  for (std::uint32_t round = 1; round <= 300; ++round) {
    put(counters.on((my_proc() + 1) % procs()), round);
    sync();
    barrier_notify();
    std::uint32_t work = 0;
    for (std::uint32_t i = 0; i < 10; ++i) work += i;
    ASSERT_EQ(work, 45u);
    barrier_wait();
    ASSERT_EQ(*counters.mine(), round);
    barrier();
  }
  all_spread_free(counters);
}

TEST(Barrier, halves_out_of_order_are_refused) {
  test::expect_error([] { barrier_wait(); }, {"barrier_wait: ", "without barrier_notify()"});
  barrier_notify();
  test::expect_error([] { barrier_notify(); }, {"barrier_notify: called twice"});
  test::expect_error([] { barrier(); }, {"barrier: called between barrier_notify() and"});
  test::expect_error([] { return all_bcast(1); },
                     {"all_bcast: called between barrier_notify() and"});
  test::expect_error([] { all_spread_malloc<int>(1); }, {"all_spread_malloc: called between"});
  barrier_wait();
  barrier();
}

TEST(Barrier, and_a_pair_of_halves_are_the_same_call) {
  for (int round = 0; round < 50; ++round) {
    if ((my_proc() + static_cast<std::uint32_t>(round)) % 2 == 0) {
      barrier();
    } else {
      barrier_notify();
      barrier_wait();
    }
  }
}

// Two elements of 2000 bytes: with three processes or more, some combine nothing.
TEST(Reduce, of_an_operation_that_throws_ends_in_all_processes) {
  struct Large {
    std::array<char, 2000> bytes;
  };
  const std::vector<Large> mine(2);
  std::vector<Large> result(2);
  const auto refuses = [](const Large&, const Large&) -> Large { throw std::runtime_error("no"); };
  std::uint32_t thrown = 0;
  try {
    all_reduce(std::span(mine), std::span(result), refuses);
  } catch (const std::runtime_error&) {
    thrown = 1;
  }
  const std::uint32_t in_all = all_reduce(thrown, std::plus());
  EXPECT_EQ(in_all > 0, procs() > 1);
}

}  // namespace
