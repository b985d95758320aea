// Ordinary variables that others reach by global pointers, in two programs one after the other.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/support/job_gtest.h"

using namespace splitc;
using test::left;
using test::right;

SPLITC_GLOBAL long counter = 42;
SPLITC_GLOBAL static double rows[2][700] = {{1.5}}, last = 2.5;  // more than a page
SPLITC_GLOBAL std::uint32_t table[3000];
SPLITC_GLOBAL const char* name = "a pointer of this process";
SPLITC_GLOBAL std::vector<int> list = {1, 2, 3};  // with a constructor and a destructor
long ordinary = 7;                                // beside the pages, and not in them

namespace {

int programs = 0;  // that have started in this process

long& inner() {
  SPLITC_GLOBAL static long words[2] = {0, 5};
  return words[1];
}

TEST(Statics, go_on_with_the_value_that_they_had_before_the_program) {
  EXPECT_EQ(counter, programs == 1 ? 43 : 1000 + long(my_proc()));
  EXPECT_EQ(rows[0][0], 1.5);
  EXPECT_EQ(rows[1][699], programs == 1 ? 0 : 9.5);
  EXPECT_EQ(last, 2.5);
  EXPECT_EQ(std::string(name), "a pointer of this process");
  EXPECT_EQ(list.size(), programs == 1 ? 3u : 103u);
  EXPECT_EQ(inner(), 5);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_EQ(long(*toglobal(proc, &counter)), programs == 1 ? 43 : 1000 + long(proc));
  }
  barrier();  // all have read what the next cases change
}

TEST(Statics, are_one_variable_in_each_process) {
  counter = 100 * long(my_proc());
  rows[1][3] = my_proc() + 0.25;
  inner() = long(my_proc());
  barrier();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_EQ(long(*toglobal(proc, &counter)), 100 * long(proc));
    EXPECT_EQ(double(*toglobal(proc, &rows[1][3])), proc + 0.25);
    EXPECT_EQ(long(*toglobal(proc, &inner())), long(proc));
  }
  barrier();
  *toglobal(right(), &counter) = long(my_proc());
  barrier();
  EXPECT_EQ(counter, long(left()));
  inner() = 5;
  EXPECT_EQ(toglobal(&counter).offset(), all_bcast(toglobal(&counter).offset()));
  *tolocal(toglobal(&counter)) = -1;  // the same memory at another address
  EXPECT_EQ(counter, -1);
  barrier();
}

TEST(Statics, take_puts_gets_stores_and_ranges) {
  std::vector<std::uint32_t> mine(std::size(table));
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = std::uint32_t(i) * 7 + my_proc();
  bulk_put(toglobal(right(), table), mine.data(), sizeof table);
  double there = 0;
  get(there, toglobal(left(), &last));
  put(toglobal(right(), &rows[1][699]), 9.5);
  sync();
  EXPECT_EQ(there, 2.5);
  barrier();
  EXPECT_EQ(rows[1][699], 9.5);
  for (std::size_t i = 0; i < std::size(table); ++i) {
    ASSERT_EQ(table[i], std::uint32_t(i) * 7 + left());
  }
  std::vector<std::uint32_t> back(std::size(table));
  bulk_get(back.data(), toglobal(right(), table), sizeof table);
  sync();
  EXPECT_EQ(back, mine);
  barrier();
  store(toglobal(right(), &counter), 17L + my_proc());
  store_sync(sizeof counter);
  EXPECT_EQ(counter, 17L + left());
  // From one variable to another's, without memory of the segment between.
  bulk_store(toglobal(right(), &rows[0][100]), &rows[1][600], 100 * sizeof(double));
  store_sync(100 * sizeof(double));
  EXPECT_EQ(rows[0][199], 9.5);
  barrier();
}

TEST(Statics, take_atomic_functions_calls_and_channels) {
  counter = 0;
  barrier();
  for (int i = 0; i < 10; ++i) fetch_and_add(toglobal(0, &counter), 1L);
  barrier();
  if (my_proc() == 0) {
    EXPECT_EQ(counter, 10L * procs());
  }
  barrier();
  rpc(
      right(), [](long from) { counter = from; }, long(my_proc()))
      .wait();
  barrier();
  EXPECT_EQ(counter, long(left()));
  rows[0][1] = my_proc() + 0.5;
  put_channel<double> channel(toglobal(right(), &rows[0][2]), std::span(&rows[0][1], 1));
  channel.put();
  channel.wait();
  EXPECT_EQ(rows[0][2], left() + 0.5);
  EXPECT_EQ(all_reduce(last, std::plus<>()), 2.5 * procs());
  barrier();
}

TEST(Statics, that_are_not_marked_have_no_global_address) {
  test::expect_error([] { toglobal(&ordinary); }, {"is not in this process's segment"});
  if (!am::kChecked) return;
  const auto outside = toglobal(&counter) + 100'000;
  test::expect_error([&] { (void)long(*outside); }, {"never allocated"});
}

// As of a shared library that is closed while the program runs.
alignas(4096) std::byte pages_of_library[4096];
std::optional<detail::StaticPages> library;

TEST(Statics, that_have_gone_have_no_global_address) {
  if (programs == 1) {
    toglobal(&pages_of_library[8]);
    library.reset();
  }
  test::expect_error([] { toglobal(&pages_of_library[8]); },
                     {"is not in this process's segment", "SPLITC_GLOBAL"});
  barrier();
}

// A child's writes are its own, and it sees what was there.
TEST(Statics, of_a_child_are_a_copy) {
  counter = 5;
  list.assign(3, 8);
  barrier();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool as_it_was = counter == 5 && list[2] == 8;
    counter = 6;
    list[2] = 9;
    std::fill(std::begin(table), std::end(table), 1u);
    _exit(as_it_was ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(counter, 5);
  EXPECT_EQ(long(*toglobal(&counter)), 5);
  EXPECT_EQ(list[2], 8);
  EXPECT_EQ(table[2999], 2999u * 7 + left());
  barrier();
  counter = 1000 + my_proc();  // for the next program
  list.resize(103);
  rows[0][0] = 1.5;
}

int program(Args args) {
  ++programs;
  return test::run_cases(args.argc(), args.argv(),
                         {.rank = my_proc(),
                          .share = [](std::uint64_t n) { return all_bcast(n); },
                          .meet = [] { barrier(); }});
}

}  // namespace

int main(int argc, char** argv) {
  counter += 1;
  library.emplace(pages_of_library, pages_of_library + sizeof pages_of_library);
  int failed = splitc::run(argc, argv, program);
  if (failed != 0) return failed;
  if (counter < 1000 || list.size() != 103 || inner() != 5) return 2;  // as the program left them
  list.push_back(0);
  list.pop_back();
  return splitc::run(argc, argv, program);
}
