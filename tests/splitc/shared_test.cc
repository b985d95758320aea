// Variables of which every process has one, in two programs one after the other.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/support/job_gtest.h"

namespace {

using namespace splitc;

struct State {
  int level;
  double weights[20];
};

shared<long> hits;
shared<State> state(State{.level = 7, .weights = {1.5}});
shared<std::array<std::uint32_t, 100>> table;
int programs = 0;                       // that have started in this process
std::optional<grid<int, 1>> left_over;  // by the last one: it ends after that, and does nothing

// What a use before the start says: this is constructed before main().
std::string use(const char* what) {
  return test::error_of([&] { what[0] == 'm' ? void(hits.mine()) : void(hits.on(0)); });
}
const std::string too_early = use("mine");

TEST(Shared, has_its_initial_value_in_every_process_when_a_program_starts) {
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_EQ(long(hits[proc]), 0);
    EXPECT_EQ(int(*state.on(proc).member(&State::level)), 7);
  }
  EXPECT_EQ(state.mine().weights[0], 1.5);
  EXPECT_EQ(state.mine().weights[19], 0);
  EXPECT_EQ(table.mine()[99], 0u);
  barrier();  // all have read what the next cases change
}

TEST(Shared, is_one_variable_in_each_process) {
  hits.mine() = 100 * long(my_proc());
  table.mine().fill(my_proc());
  state.mine().level = -int(my_proc());
  barrier();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_EQ(long(hits[proc]), 100 * long(proc));
    const std::array<std::uint32_t, 100> theirs = table[proc];
    EXPECT_EQ(std::accumulate(theirs.begin(), theirs.end(), 0u), 100 * proc);
    EXPECT_EQ(int(*state.on(proc).member(&State::level)), -int(proc));
  }
  barrier();
  hits[(my_proc() + 1) % procs()] = long(my_proc());
  barrier();
  EXPECT_EQ(hits.mine(), long((my_proc() + procs() - 1) % procs()));
  barrier();
  fetch_and_add(hits.on(0), 10L);
  barrier();
  if (my_proc() == 0) {
    EXPECT_EQ(hits.mine(), long(procs() - 1 + 10 * procs()));
  }
  EXPECT_EQ(tolocal(hits.on(my_proc())), &hits.mine());
  EXPECT_EQ(hits.on(0).offset(), all_bcast(hits.on(0).offset()));
  EXPECT_NE(hits.on(0).offset() / 64, state.on(0).offset() / 64);
}

TEST(Shared, outside_a_program_or_made_in_it_is_an_error) {
  EXPECT_NE(too_early.find("shared::mine: no program is running"), std::string::npos) << too_early;
  static shared<int> late;
  const std::initializer_list<std::string> parts = {"made after the program had started",
                                                    "at namespace scope"};
  if (programs == 1) {
    test::expect_error([] { late.mine() = 1; }, parts);
    test::expect_error([] { late[0] = 1; }, parts);
  } else {
    EXPECT_EQ(late.mine(), 0);  // it was there when this program started
  }
  shared<int> local;
  test::expect_error([&] { local.on(0); }, parts);
  if (am::kChecked) {
    test::expect_error([] { hits.on(procs()); }, {"shared::on: there is no process"});
  }
}

int program(Args args) {
  if (++programs == 2) left_over.emplace(std::array<std::size_t, 1>{4 * procs()});
  return test::run_cases(args.argc(), args.argv(),
                         {.rank = my_proc(),
                          .share = [](std::uint64_t n) { return all_bcast(n); },
                          .meet = [] { barrier(); }});
}

}  // namespace

int main(int argc, char** argv) {
  int failed = splitc::run(argc, argv, program);
  if (!use("on").starts_with("shared::on: no program is running")) return 1;  // of no rank
  return failed != 0 ? failed : splitc::run(argc, argv, program);
}
