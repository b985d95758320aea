// main() of the litmus tests: that of other Split-C tests, and --times=N for longer runs.
//
//   splitcrun -n 4 --nodes 2 litmus_test_program --times=100 --seed=7 --gtest_filter='Store/*'

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "splitc/splitc.h"
#include "tests/litmus/times.h"
#include "tests/support/job_gtest.h"

namespace litmus {
namespace {

std::uint64_t all_times = 1;

// Takes --times=N out of the arguments.
void take_times(int& argc, char** argv) {
  constexpr std::string_view kFlag = "--times=";
  char** const end = argv + argc;
  char** const found =
      std::find_if(argv + 1, end, [&](std::string_view word) { return word.starts_with(kFlag); });
  if (found == end) return;
  all_times = std::max(std::strtoull(*found + kFlag.size(), nullptr, 10), 1ull);
  std::copy(found + 1, end, found);
  argv[--argc] = nullptr;
}

}  // namespace

std::uint64_t times() { return all_times; }

}  // namespace litmus

int main(int argc, char** argv) {
  litmus::take_times(argc, argv);
  return splitc::run(argc, argv, [](splitc::Args args) {
    return test::run_cases(args.argc(), args.argv(),
                           {.rank = splitc::my_proc(),
                            .share = [](std::uint64_t n) { return splitc::all_bcast(n); },
                            .meet = [] { splitc::barrier(); }});
  });
}
