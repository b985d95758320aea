#include "splitc/rpc/rpc.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using test::right;

int negated(int x) { return -x; }
void add_two(std::uint64_t& counter) { counter += 2; }
std::uint64_t called = 0;  // in this process

TEST(Rpc, takes_as_the_process_whatever_converts_to_a_number) {
  spread_array<std::uint32_t> owners(procs());
  owners.mine()[0] = test::right();
  barrier();
  enum Place { kFirst };
  const auto rank = [] { return my_proc(); };
  EXPECT_EQ(rpc(owners[my_proc()], rank).result(), test::right());
  EXPECT_EQ(rpc(std::atomic<std::uint32_t>(test::left()), rank).result(), test::left());
  EXPECT_EQ(rpc(kFirst, rank).result(), 0u);
  EXPECT_EQ(rpc(std::size_t{0}, rank).result(), 0u);
  EXPECT_EQ(rpc(rpc_target(0), rank).result(), 0u);
  barrier();
}

TEST(Rpc, refuses_numbers_that_no_process_has) {
  const auto rank = [] { return my_proc(); };
  const std::string job = "the job has " + std::to_string(procs());
  const std::string count = std::to_string(procs());
  test::expect_error([&] { rpc(procs(), rank); }, {"rpc: there is no process " + count, job});
  test::expect_error([&] { rpc(-1, rank); }, {"rpc: there is no process with a negative", job});
  test::expect_error([&] { rpc(1ull << 32, rank); }, {"or one of 2^32", job});
  test::expect_error([&] { rpc_ff((1ll << 33) + 1, [] {}); }, {"rpc_ff: there is no process", job});
  test::expect_error([&] { rpc_ff(procs(), [] {}); }, {"rpc_ff: there is no process " + count});
}

TEST(Rpc, runs_functions_and_lambdas_in_every_process) {
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_EQ(rpc(proc, [] { return my_proc(); }).result(), proc);
    EXPECT_EQ(rpc(proc, &negated, 7).result(), -7);
    const int captured = static_cast<int>(my_proc());
    auto sum = rpc(
        proc, [captured](int x, long y) { return captured + x + y; }, 1, 10L);
    static_assert(std::is_same_v<decltype(sum), future<long>>);
    EXPECT_EQ(sum.result(), captured + 11);
    EXPECT_EQ(sum.result(), captured + 11);  // again
    EXPECT_TRUE(sum.ready());
  }
  barrier();
}

// Programs are loaded at another address in each process.
TEST(Rpc, functions_are_arguments_too) {
  const auto twice = [](int (*f)(int), int x, auto g) { return g(f(x)) + f(g(x)); };
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const int one = static_cast<int>(procs() / procs());  // captured by every compiler
    EXPECT_EQ(rpc(proc, twice, &negated, 7, [one](int x) { return x + one; }).result(), -6 - 8);
    EXPECT_EQ(rpc(proc, twice, &negated, 7, [](int x) { return x + 1; }).result(), -6 - 8);
    EXPECT_EQ(rpc(proc, twice, &negated, 7, &negated).result(), 14);
  }
  barrier();
}

TEST(Rpc, without_a_result_has_run_when_it_is_complete) {
  called = 0;
  barrier();
  for (int i = 0; i < 100; ++i) rpc(right(), [] { ++called; });
  sync();
  barrier();
  EXPECT_EQ(called, 100u);
  barrier();
  future<void> one = rpc(right(), [] { ++called; });
  one.wait();
  EXPECT_TRUE(one.ready());
  barrier();
  EXPECT_EQ(called, 101u);
  barrier();
}

TEST(Rpc, many_in_flight_each_give_their_own_result) {
  std::vector<future<std::uint64_t>> all;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    all.push_back(rpc(
        static_cast<std::uint32_t>(i % procs()), [](std::uint64_t x) { return x * x + my_proc(); },
        i));
  }
  std::mt19937_64 random(test::seed());
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t i : order) ASSERT_EQ(all[i].result(), i * i + i % procs());
  barrier();
}

// More than there are credits for, by far: who has them sends them in its polls.
TEST(Rpc, many_long_results_of_one_process_all_come) {
  std::vector<future<std::vector<std::uint32_t>>> all;
  for (std::uint32_t i = 0; i < 500; ++i) {
    all.push_back(rpc(
        right(), [](std::uint32_t x) { return std::vector<std::uint32_t>(1100 + x, x); }, i));
  }
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].result(), std::vector<std::uint32_t>(1100 + i, i));
  }
  barrier();
}

TEST(Rpc, of_which_the_future_has_been_moved_away_says_so) {
  auto first = rpc(right(), [] { return 1; });
  auto second = std::move(first);
  test::expect_error([&] { first.result(); }, {"future::result: there is no result here"});
  test::expect_error([&] { static_cast<void>(first.ready()); }, {"future::started: there is no"});
  EXPECT_EQ(second.result(), 1);
  barrier();
}

TEST(Rpc, results_that_nobody_waits_for_are_dropped) {
  for (int i = 0; i < 2000; ++i) {
    rpc(
        right(), [](int x) { return x; }, i);
    rpc(
        right(), [](int x) { return std::vector<int>(x); }, i);
  }
  auto last = rpc(right(), [] { return 5; });
  sync();
  EXPECT_EQ(last.result(), 5);
  barrier();
}

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kMayRemain = 1'000'000'000;  // it keeps what was freed
#else
constexpr std::size_t kMayRemain = 25'000'000;
#endif

// 84 MB in all, of which less than a third may remain.
TEST(Rpc, results_give_their_memory_back) {
  const auto large = [] { return std::vector<char>(2'000'000, 'x'); };
  rpc(right(), large).wait();
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 20; ++i) {
    auto read = rpc(right(), large);
    ASSERT_EQ(read.result().size(), 2'000'000u);
    rpc(right(), large);  // nobody wants it
    sync();
  }
  std::vector<future<std::vector<char>>> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(rpc(right(), large));
  sync();
  kept.clear();
  barrier();
  EXPECT_LT(resident_bytes(), before + kMayRemain);
  barrier();
}

// Of any length, and of none.
TEST(Rpc, results_may_have_several_parts) {
  for (const std::size_t n : {0u, 1u, 7u, 5000u}) {
    const auto [id, list] =
        rpc(
            right(),
            [](std::size_t count) {
              return std::pair(char('a' + my_proc()), std::vector<long>(count, my_proc()));
            },
            n)
            .result();
    EXPECT_EQ(id, char('a' + right()));
    EXPECT_EQ(list, std::vector<long>(n, right()));
    const auto three =
        rpc(
            right(),
            [](std::size_t count) {
              return std::tuple(std::string(count, 'x'), std::vector<char>(count, 'y'), 2.5);
            },
            n)
            .result();
    EXPECT_EQ(three, std::tuple(std::string(n, 'x'), std::vector<char>(n, 'y'), 2.5));
    auto text = rpc(
        right(), [](std::size_t count) { return std::string(count, 'z'); }, n);
    EXPECT_EQ(text.result(), std::string(n, 'z'));
  }
  EXPECT_EQ(rpc(right(), [] { return std::pair(1, 2u); }).result(), std::pair(1, 2u));
}

TEST(Rpc, results_go_to_memory_of_the_caller) {
  const auto numbers = [](std::size_t count) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), static_cast<int>(my_proc()));
    return all;
  };
  std::vector<int> to(6000, -1);
  for (const std::size_t n : {0u, 1u, 20u, 1500u, 5000u}) {
    for (const std::uint32_t proc : {right(), my_proc()}) {
      std::ranges::fill(to, -1);
      ASSERT_EQ(rpc_into(to, proc, numbers, n).result(), n);
      ASSERT_TRUE(std::ranges::equal(std::span(to).first(n), [&] {
        std::vector<int> all(n);
        std::iota(all.begin(), all.end(), static_cast<int>(proc));
        return all;
      }()));
      ASSERT_EQ(to[n], -1);
    }
  }
  std::array<int, 2> little{-1, -1};
  rpc_into(little, right(), numbers, std::size_t{1});  // nobody asks how many
  sync();
  EXPECT_EQ(little[0], static_cast<int>(right()));
  for (const std::size_t n : {3u, 5000u}) {
    test::expect_error(
        [&] {
          auto many = rpc_into(little, right(), numbers, n);
          while (!many.ready()) continue;
        },
        {"rpc_into: the function has returned " + std::to_string(n) + " elements",
         "room for 2; pass a larger span"});
    EXPECT_EQ(little[1], -1);
  }
  EXPECT_EQ(rpc(right(), numbers, std::size_t{3}).result()[2], static_cast<int>(right()) + 2);
  barrier();
}

// Addresses mean nothing in another process.
struct HasFunction {
  int function() const;
};
static_assert(detail::travels<double> && detail::travels<std::array<int, 3>> &&
              detail::travels<std::optional<int>> && detail::travels<global_ptr<int>>);
static_assert(!detail::travels<int*> && !detail::travels<int (HasFunction::*)() const> &&
              !detail::travels<std::reference_wrapper<int>> &&
              !detail::travels<std::initializer_list<int>> && !detail::travels<std::string_view> &&
              !detail::travels<std::optional<int*>> &&
              !detail::travels<std::array<std::span<int>, 2>> && !detail::travels<std::string>);

// Around the borders of what fits in arguments, in a medium message and in several.
TEST(Rpc, arguments_and_results_have_any_length) {
  for (const std::size_t bytes :
       {0u,    1u,    7u,    8u,    16u,   31u,   32u,      33u,       40u,   41u,
        48u,   49u,   56u,   57u,   400u,  600u,  4000u,    4072u,     4087u, 4088u,
        4089u, 4096u, 4097u, 8191u, 8192u, 8200u, 100'000u, 1'000'000u}) {
    std::vector<std::uint8_t> sent(bytes);
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::uint8_t>(i * 7 + bytes);
    auto back = rpc(
        right(),
        [](std::uint8_t add, std::span<const std::uint8_t> all) {
          std::vector<std::uint8_t> result(all.begin(), all.end());
          for (auto& x : result) x = static_cast<std::uint8_t>(x + add);
          return result;
        },
        std::uint8_t{3}, std::span(sent));
    std::vector<std::uint8_t> expected = sent;
    for (auto& x : expected) x = static_cast<std::uint8_t>(x + 3);
    std::ranges::fill(sent, 0);  // they have been copied
    ASSERT_EQ(back.result(), expected) << bytes;
  }
  barrier();
}

template <std::size_t kBytes>
struct Block {
  std::array<std::uint8_t, kBytes> bytes;
};
template <std::size_t kBytes>
void expect_block_comes_back() {
  Block<kBytes> sent;
  for (std::size_t i = 0; i < kBytes; ++i) sent.bytes[i] = static_cast<std::uint8_t>(i + 1);
  // As an argument, and as a capture.
  EXPECT_EQ(rpc(
                right(), [](Block<kBytes> b) { return b; }, sent)
                .result()
                .bytes,
            sent.bytes);
  EXPECT_EQ(rpc(right(), [sent] { return sent; }).result().bytes, sent.bytes);
}
TEST(Rpc, values_of_any_size_travel) {
  expect_block_comes_back<1>();
  expect_block_comes_back<20>();
  expect_block_comes_back<21>();
  expect_block_comes_back<47>();
  expect_block_comes_back<48>();
  expect_block_comes_back<49>();
  expect_block_comes_back<56>();
  expect_block_comes_back<57>();
  expect_block_comes_back<513>();
  expect_block_comes_back<5000>();
  barrier();
}

// Calls of at most two words are packed into these, wherever one value ends and the next begins.
template <std::size_t kA, std::size_t kB>
std::uint64_t weigh(const Block<kA>& a, const Block<kB>& b) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kA; ++i) sum += (i + 1) * a.bytes[i];
  for (std::size_t i = 0; i < kB; ++i) sum += (i + 100) * b.bytes[i];
  return sum;
}
template <std::size_t kCaptured, std::size_t kPassed>
void expect_split_arrives() {
  Block<kCaptured> captured;
  Block<kPassed> passed;
  for (std::size_t i = 0; i < kCaptured; ++i) {
    captured.bytes[i] = static_cast<std::uint8_t>(251 * i + 7);
  }
  for (std::size_t i = 0; i < kPassed; ++i) passed.bytes[i] = static_cast<std::uint8_t>(77 * i + 9);
  const auto there = [captured](const Block<kPassed>& b) { return weigh(captured, b); };
  EXPECT_EQ(rpc(right(), there, passed).result(), weigh(captured, passed))
      << kCaptured << " and " << kPassed;
}
template <std::size_t... kI>
void expect_splits_arrive(std::index_sequence<kI...>) {
  (expect_split_arrives<kI + 1, 15 - kI>(), ...);  // 16 bytes
  (expect_split_arrives<kI + 1, 16 - kI>(), ...);  // one too many
  (expect_split_arrives<kI + 1, 1>(), ...);
}
TEST(Rpc, two_values_arrive_wherever_they_are_split) {
  expect_splits_arrive(std::make_index_sequence<15>());
  barrier();
}

TEST(Rpc, of_two_words_puts_each_value_at_its_alignment) {
  struct Three {
    std::uint32_t a, b, c;
  };
  const Three three{1, 2, 3};
  const auto all = [three](std::uint32_t d) {
    return three.a | three.b << 8 | three.c << 16 | d << 24;
  };
  EXPECT_EQ(rpc(right(), all, 4u).result(), 0x04030201u);
  const auto mixed = [](char c, std::uint16_t s, std::uint32_t i, double x) {
    return c == 'c' && s == 65000 && i == 4'000'000'000u ? x : -1;
  };
  EXPECT_EQ(rpc(right(), mixed, 'c', std::uint16_t{65000}, 4'000'000'000u, 0.1).result(), 0.1);
  EXPECT_TRUE(rpc(
                  right(), [](bool yes, float x) { return yes && x == -2.5f; }, true, -2.5f)
                  .result());
  EXPECT_EQ(rpc(
                right(), [](long double x) { return static_cast<float>(x); }, 1.25L)
                .result(),
            1.25f);
  barrier();
}

TEST(Rpc, arguments_are_where_their_types_may_be) {
  struct alignas(16) Wide {
    double a, b;
  };
  const std::vector<Wide> wide(700, {1.5, 2.5});
  auto wrong = rpc(
      right(),
      [](char, std::span<const Wide> some, char, std::string_view text, std::span<const double> d) {
        const auto misplaced = [](const void* p, std::size_t alignment) {
          return reinterpret_cast<std::uintptr_t>(p) % alignment != 0 ? 1 : 0;
        };
        return misplaced(some.data(), 16) + misplaced(d.data(), 8) + (text == "text" ? 0 : 1) +
               (some.size() == 700 && some.back().b == 2.5 ? 0 : 1) + (d.empty() ? 0 : 1);
      },
      'x', std::span(wide), 'y', std::string_view("text"), std::span<const double>());
  auto moved = std::move(wrong);
  EXPECT_EQ(moved.result(), 0);
  barrier();
}

TEST(Rpc, at_an_object_gets_a_reference_to_it) {
  spread_array<std::uint64_t> counters(procs());
  barrier();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const auto before = rpc_at(
                            &counters[proc],
                            [](std::uint64_t& c, int add) {
                              return std::exchange(c, c + static_cast<std::uint64_t>(add));
                            },
                            2)
                            .result();
    EXPECT_EQ(before % 2, 0u);
    rpc_ff_at(&counters[proc], &add_two);
  }
  quiesce();
  EXPECT_EQ(static_cast<std::uint64_t>(counters[my_proc()]), 4u * procs());
  barrier();
}

TEST(Rpc, without_an_answer_has_run_everywhere_after_quiesce) {
  called = 0;
  barrier();
  const std::vector<std::uint64_t> much(3000, 1);
  for (int i = 0; i < 300; ++i) {
    const auto proc = static_cast<std::uint32_t>(i) % procs();
    rpc_ff(
        proc, [](std::uint64_t n) { called += n; }, std::uint64_t{1});
    if (i % 10 == 0) {
      rpc_ff(
          proc,
          [](std::span<const std::uint64_t> all) {
            called += std::accumulate(all.begin(), all.end(), std::uint64_t{0});
          },
          std::span(much));
    }
  }
  quiesce();
  EXPECT_EQ(all_reduce(called, std::plus()), std::uint64_t{procs()} * (300 + 30 * 3000));
}

// It may only come back, so that it is no Error.
TEST(Rpc, with_a_pointer_to_the_stack_is_told_of_once) {
  int here = 1;
  const auto elsewhere = std::make_unique<int>(2);
  const std::uint32_t next = (my_proc() + 1) % procs();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    const auto bits = reinterpret_cast<std::uintptr_t>(&here);
    EXPECT_EQ(rpc(next, [p = &here] { return reinterpret_cast<std::uintptr_t>(p); }).result(),
              bits);
    rpc(next, [p = elsewhere.get()] { return p == nullptr; }).wait();
    rpc(next, [value = here] { return value; }).wait();
  }
  barrier();
  const std::string said = testing::internal::GetCapturedStderr();
  // AddressSanitizer may keep variables of a function elsewhere.
  const detail::Stack stack = detail::my_stack();
  const auto address = reinterpret_cast<std::uintptr_t>(&here);
  const bool told = am::kChecked && procs() > 1 && address >= stack.begin && address < stack.end;
  EXPECT_EQ(said.find("rpc: the function that goes to process " + std::to_string(next) +
                      " captures 0x") != std::string::npos,
            told)
      << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), told ? 1 : 0) << said;
  EXPECT_EQ(said.find("rpc_test.cc:") != std::string::npos, told) << said;
}

TEST(Rpc, may_not_be_called_by_functions_that_run_so) {
  const auto sentence =
      rpc(right(), [] {
        const std::string said =
            procs() == 1 ? "" : test::error_of([] { rpc(my_proc(), [] { return 1; }); });
        return std::vector<char>(said.begin(), said.end());
      }).result();
  if (procs() == 1) return;
  EXPECT_NE(std::string_view(sentence.data(), sentence.size())
                .find("rpc: called by a handler or by a function that another process has run"),
            std::string_view::npos);
  barrier();
}

TEST(Rpc, to_no_process_is_an_error) {
  test::expect_error([] { rpc(procs(), [] {}); }, {"rpc: ", "no process"});
  test::expect_error([] { rpc_ff(procs(), [] {}); }, {"rpc_ff: ", "no process"});
  test::expect_error([] { rpc_at(global_ptr<int>(), [](int& x) { return x; }); }, {"rpc_at: "});
}

TEST(Rpc, in_this_process_throws_what_the_function_throws) {
  EXPECT_THROW(rpc(my_proc(), []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
}

// --- dist_object

TEST(DistObject, is_one_of_each_process) {
  dist_object<std::uint32_t> rank(my_proc() * 10);
  dist_object<std::vector<double>> row(my_proc() + 1, 0.5);
  EXPECT_EQ(*rank, my_proc() * 10);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_EQ(rank.fetch(proc).result(), proc * 10);
    EXPECT_EQ(row.fetch(proc).result(), std::vector<double>(proc + 1, 0.5));
  }
}

// A hash table of all processes, against what one process knows.
TEST(DistObject, makes_a_hash_table) {
  using Map = std::unordered_map<std::uint64_t, std::uint64_t>;
  dist_object<Map> table;
  const auto owner = [](std::uint64_t key) { return static_cast<std::uint32_t>(key % procs()); };
  constexpr std::uint64_t kKeys = 500;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::uint64_t key = i * procs() + my_proc() + i % 3;
    rpc_ff(
        owner(key), [](Map& map, std::uint64_t k) { ++map[k]; }, table, key);
  }
  quiesce();
  Map expected;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    for (std::uint64_t i = 0; i < kKeys; ++i) ++expected[i * procs() + proc + i % 3];
  }
  for (const auto& [key, count] : expected) {
    const auto found = rpc(
                           owner(key),
                           [](const Map& map, std::uint64_t k) {
                             const auto at = map.find(k);
                             return at == map.end() ? 0 : at->second;
                           },
                           table, key)
                           .result();
    ASSERT_EQ(found, count) << key;
  }
}

// A call that is still on its way then must not find another object.
TEST(DistObject, that_an_exception_has_ended_leaves_its_number_unused) {
  const auto number_of = []<class T>(const dist_object<T>& object) {
    std::uint32_t number = 0;
    detail::Packer packer{reinterpret_cast<std::byte*>(&number)};
    detail::Argument<dist_object<T>>::pack(packer, object);
    return number;
  };
  std::uint32_t number = 0;
  try {
    const dist_object<std::vector<int>> ended;
    number = number_of(ended);
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
  }
  const dist_object<std::uint64_t> next_one(7u);
  EXPECT_NE(number_of(next_one), number);
  test::expect_error([&] { detail::dist_object_at(number); },
                     {"dist_object: this process has no object number", "any more"});
  EXPECT_EQ(*next_one, 7u);
}

TEST(DistObject, may_come_and_go) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    dist_object<std::uint32_t> a(i);
    dist_object<std::uint32_t> b(i + 100);
    EXPECT_EQ(a.fetch(right()).result(), i);
    EXPECT_EQ(b.fetch(right()).result(), i + 100);
  }
}

}  // namespace
