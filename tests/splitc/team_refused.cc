// What calls of teams refuse, and that the team goes on then.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/core/poller.h"
#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"

namespace {

using namespace splitc;
using Word = std::uint32_t;

TEST(Team, members_that_call_differently_all_name_two_calls) {
  if (procs() == 1) return;
  const team t = team::world().split(0, -static_cast<std::int64_t>(my_proc()));
  const bool odd = my_proc() == procs() / 2;
  const auto differ = [&](const std::function<void()>& one, const std::function<void()>& others,
                          const std::string& name, const std::string& other_name) {
    test::expect_error([&] { odd ? one() : others(); },
                       {name, other_name, "while this process called " + (odd ? name : other_name),
                        "all members of a team must make the same calls"});
    EXPECT_EQ(t.all_exscan_add(1u), t.rank());
  };
  std::vector<Word> many(5000 * procs()), more(5000 * procs());
  differ([&] { t.barrier(); }, [&] { t.all_reduce(1u, std::plus<>()); }, "team::barrier of 0 bytes",
         "team::all_reduce of 4 bytes");
  differ([&] { t.all_gather(1u); }, [&] { t.all_gather(1ull); }, "team::all_gather of 4 bytes",
         "team::all_gather of 8 bytes");
  differ([&] { return t.all_bcast(1u); }, [&] { t.all_bcast(std::span(many)); },
         "team::all_bcast of 4 bytes",
         "team::all_bcast of " + std::to_string(many.size() * 4) + " bytes");
  differ([&] { t.all_to_all(std::span(many), std::span(more)); },
         [&] { t.all_reduce(std::span(many), std::span(more), std::plus<>()); },
         "team::all_to_all of 20000 bytes", "team::all_reduce of ");
  test::expect_error([&] { return t.all_bcast(1u, odd ? 1 : 0); },
                     {"with another root, length or type"});
  test::expect_error([&] { odd ? void(t.all_gather(1.0f)) : void(t.all_gather(1u)); },
                     {"with another root, length or type"});
  auto call = odd ? t.start_all_reduce(1u, std::plus<>()) : t.start_all_bcast(1u);
  test::expect_error([&] { call.wait(); },
                     {"team::start_all_reduce of 4 bytes", "team::start_all_bcast of 4 bytes"});
  EXPECT_EQ(t.all_reduce_to_all_add(1u), procs());
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
