// What calls of teams refuse, and that the team goes on then.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/core/poller.h"
#include "splitc/group/groups.h"
#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"

namespace {

using namespace splitc;
using Word = std::uint32_t;

// The calls of the members of `t` differ. Those who get what their call says may leave it; those
// who cannot get that throw an Error with all `parts`, as do all in their next call if it shows
// only then; and then `t` goes on.
void expect_difference(const team& t, const std::function<void()>& call,
                       std::initializer_list<std::string> parts, bool all_throw) {
  const std::string error = test::error_of(call);
  Word threw = 0;
  const std::string later =
      test::error_of([&] { threw = t.all_reduce(error.empty() ? 0u : 1u, std::plus()); });
  for (const std::string& part : parts) {
    if (error.empty() && !all_throw) break;
    EXPECT_NE(error.find(part), std::string::npos) << "no \"" << part << "\" in: " << error;
  }
  if (later.empty() || all_throw) {
    EXPECT_GE(threw, all_throw ? t.size() : 1u);
  } else {
    EXPECT_NE(later.find("while this process called"), std::string::npos) << later;
  }
  EXPECT_EQ(t.all_exscan(1u, std::plus(), 0), t.rank());
}

TEST(Team, members_that_call_differently_name_two_calls) {
  if (procs() == 1) return;
  const team t = team::world().split(0, -static_cast<std::int64_t>(my_proc()));
  const bool odd = my_proc() == procs() / 2;
  const auto differ = [&](const std::function<void()>& one, const std::function<void()>& others,
                          const std::string& name, const std::string& other_name, bool all_throw) {
    expect_difference(
        t, [&] { odd ? one() : others(); },
        {"rank ", name, other_name, "while this process called " + (odd ? name : other_name),
         "all members of a team must make the same calls"},
        all_throw);
  };
  std::vector<Word> many(5000 * procs()), more(5000 * procs());
  differ([&] { t.barrier(); }, [&] { t.all_reduce(1u, std::plus<>()); }, "team::barrier",
         "team::all_reduce of 4 bytes", true);
  differ([&] { t.all_gather(1u); }, [&] { t.all_gather(1ull); }, "team::all_gather of 4 bytes",
         "team::all_gather of 8 bytes", true);
  differ([&] { return t.all_bcast(1u); }, [&] { t.all_bcast(std::span(many)); },
         "team::all_bcast of 4 bytes",
         "team::all_bcast of " + std::to_string(many.size() * 4) + " bytes", false);
  differ([&] { t.all_to_all(std::span(many), std::span(more)); },
         [&] { t.all_reduce(std::span(many), std::span(more), std::plus<>()); },
         "team::all_to_all of 20000 bytes", "team::all_reduce of ", true);
  expect_difference(
      t, [&] { return t.all_bcast(1u, odd ? 1 : 0); }, {"with another root, length or type"},
      false);
  expect_difference(
      t, [&] { odd ? void(t.all_gather(1.0f)) : void(t.all_gather(1u)); },
      {"with another root, length or type"}, true);
  auto call = odd ? t.start_all_reduce(1u, std::plus<>()) : t.start_all_bcast(1u);
  expect_difference(
      t, [&] { call.wait(); },
      {"team::start_all_reduce of 4 bytes", "team::start_all_bcast of 4 bytes"}, false);
}

// Each waits for one that waits itself: no message of a call is sent, until they ask one another.
TEST(Team, members_that_wait_for_one_another_in_different_calls_are_told) {
  if (procs() == 1) return;
  const team t = team::world();
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t root = (my_proc() + 1) % procs();  // never this one
    expect_difference(
        t, [&] { return t.all_bcast(1u, root); }, {"with another root, length or type"}, true);
  }
}

// "It has not come yet" is no promise of what it will call.
TEST(Team, who_calls_differently_after_it_was_asked_is_noticed) {
  if (procs() == 1) return;
  const team t = team::world();
  const detail::Mail& mail = detail::Groups::of_world().mail();
  for (std::uint32_t root = 0; root < procs(); ++root) {
    const bool late = my_proc() == root;
    t.barrier();
    const std::uint64_t before = mail.arrivals();
    if (late) wait_until([&] { return mail.arrivals() != before; });
    expect_difference(
        t, [&] { late ? void(t.all_bcast(1ull, root)) : void(t.all_bcast(1u, root)); },
        {"team::all_bcast of 4 bytes", "team::all_bcast of 8 bytes"}, false);
  }
}

// Those that wait for nobody, too, with the right values.
TEST(Team, calls_of_all_kinds_go_on_after_a_difference) {
  if (procs() == 1) return;
  const team t = team::world();
  for (Word turn = 0; turn < 4; ++turn) {
    const Word root = turn % procs();
    test::error_of([&] { my_proc() == root ? t.barrier() : void(t.all_bcast(1u, root)); });
    for (Word i = 0; i < 80; ++i) {
      std::optional<Word> got;
      const std::string error =
          test::error_of([&] { got = t.all_bcast(100 * my_proc() + i, i % (turn + 1) % procs()); });
      // Who had left the first call hears of it in one of the next two, as do those who need it
      // there.
      ASSERT_TRUE(i < 2 || error.empty()) << error;
      ASSERT_EQ(got.value_or(100 * (i % (turn + 1) % procs()) + i),
                100 * (i % (turn + 1) % procs()) + i);
    }
    EXPECT_EQ(t.all_scan(1u, std::plus()), t.rank() + 1);
  }
}

TEST(Team, a_call_that_has_thrown_leaves_the_memory_of_its_caller_alone) {
  if (procs() == 1) return;
  const team t = team::world();
  const std::size_t words = 30'000 * procs();
  std::vector<Word> to(words, 1), from(words);
  for (Word turn = 0; turn < 6; ++turn) {
    const bool odd = my_proc() == turn % procs();
    test::error_of([&] { odd ? t.barrier() : t.all_to_all(std::span(to), std::span(from)); });
    std::ranges::fill(from, 7u);
    test::error_of([&] { t.barrier(); });
    ASSERT_EQ(test::error_of([&] { t.barrier(); }), "");
    ASSERT_EQ(std::ranges::count(from, 7u), static_cast<std::ptrdiff_t>(words));
  }
}

// Several messages of calls that differ come to one member at once.
TEST(Team, members_with_several_who_call_differently_are_told_of_all) {
  if (procs() < 3) return;
  const team t = team::world();
  std::vector<char> large(300'000);
  for (int turn = 0; turn < 20; ++turn) {
    test::error_of([&] {
      if (my_proc() == 1) {
        (void)t.all_bcast(1L, procs() - 1);
      } else {
        t.start_all_bcast(std::span(large), 2).wait();
      }
    });
    test::error_of([&] { t.all_reduce(1u, std::plus()); });
    ASSERT_EQ(t.all_reduce(1u, std::plus()), procs());
  }
}

TEST(Team, what_an_operation_throws_comes_out_at_its_caller_and_the_team_goes_on) {
  const team t = team::world();
  const auto no = [](Word, Word) -> Word { throw std::runtime_error("no"); };
  std::vector<Word> few(10), many(3000 * procs()), sums(many.size());
  if (procs() > 1) {
    EXPECT_THROW(t.all_reduce(1u, no), std::runtime_error);
    EXPECT_THROW(t.all_reduce(std::span(few), std::span(few), no), std::runtime_error);
    EXPECT_THROW(t.all_reduce(std::span(many), std::span(sums), no), std::runtime_error);
    auto started = t.start_all_reduce(1u, no);
    EXPECT_EQ(t.start_all_reduce(1u, std::plus<>()).wait(), procs());
    EXPECT_THROW(started.wait(), std::runtime_error);
    t.start_all_reduce(1u, no);  // nobody waits for it
    EXPECT_THROW(t.barrier(), std::runtime_error);
  }
  EXPECT_EQ(t.all_reduce(1u, std::plus<>()), procs());
}

TEST(Team, an_operation_may_not_make_a_call_of_a_team) {
  if (procs() == 1) return;
  const team t = team::world();
  for (const bool waits : {true, false}) {
    auto sum = t.start_all_reduce(1u, [&](Word a, Word b) {
      waits ? t.barrier() : t.start_barrier().wait();
      return a + b;
    });
    EXPECT_NE(test::error_of([&] { sum.wait(); }), "");
  }
  EXPECT_EQ(t.all_reduce(1u, std::plus<>()), procs());
}

TEST(Team, refuses_what_cannot_be_done) {
  const team t = team::world();
  const std::string n = std::to_string(procs());
  const team empty = t.split(team::none);
  EXPECT_FALSE(empty);
  test::expect_error([&] { empty.barrier(); }, {"team::barrier: this process is in no such team"});
  test::expect_error([&] { empty.start_barrier(); }, {"team::start_barrier: this process is in"});
  test::expect_error([&] { empty.rank(); }, {"team::rank: this process is in no such team"});
  test::expect_error([&] { t.proc(procs()); }, {"team::proc: there is no rank " + n});
  test::expect_error([&] { return t.all_bcast(1, procs()); },
                     {"team::all_bcast: there is no rank " + n + " to be the root"});
  std::vector<int> few(3), all(3 * procs() + 1);
  test::expect_error([&] { t.all_gather(std::span(few), std::span(all)); },
                     {"team::all_gather", "it needs " + std::to_string(3 * procs())});
  test::expect_error([&] { t.all_reduce(std::span(few), std::span(all), std::plus<>()); },
                     {"team::all_reduce", "it needs 3"});
  test::expect_error(
      [&] { t.all_reduce(std::span(all).first(2), std::span(all).subspan(1, 2), std::plus<>()); },
      {"team::all_reduce", "overlap"});
  test::expect_error(
      [&] { t.all_to_all_varying(std::span(few), std::vector<std::size_t>(procs() + 1)); },
      {"team::all_to_all_varying", "pass one for each"});
  test::expect_error(
      [&] { t.all_to_all_varying(std::span(few), std::vector<std::size_t>(procs())); },
      {"the counts do not add up to the size of the span, 12 bytes"});
  if (procs() > 1) {
    test::expect_error([&] { t.all_to_all(std::span(all), std::span(all)); },
                       {"team::all_to_all", "are not " + n + " equal parts"});
  }
  struct Caller final : am::Poller {
    int poll() override {
      if (!error) error = test::error_of([] { team::world().barrier(); });
      return 0;
    }
    bool has_work() noexcept override { return false; }
    std::optional<std::string> error;
  } caller;
  world().bundle().add(caller);
  poll();
  world().bundle().remove(caller);
  EXPECT_NE(caller.error->find("team::barrier: called by a handler"), std::string::npos);
  EXPECT_EQ(t.all_reduce(1u, std::plus<>()), procs());
}

}  // namespace
