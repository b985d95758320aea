// main() of a test that runs as a Split-C program: the cases run inside splitc::run().
#include "splitc/splitc.h"
#include "tests/support/job_gtest.h"

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) {
    return test::run_cases(args.argc(), args.argv(),
                           {.rank = splitc::my_proc(),
                            .share = [](std::uint64_t n) { return splitc::all_bcast(n); },
                            .meet = [] { splitc::barrier(); }});
  });
}
