#include "tests/support/job_main.h"

#include <cstdio>
#include <optional>

#include "tests/support/job_gtest.h"

namespace test {
namespace {

std::optional<am::Job> the_job;
std::optional<am::Bundle> the_bundle;

int run(int argc, char** argv) {
  the_job.emplace();
  the_bundle.emplace(*the_job);
  const int failed = run_cases(argc, argv,
                               {.rank = rank(),
                                .share = [](std::uint64_t n) { return the_job->exchange(n)[0]; },
                                .meet = barrier});
  if (failed == 0) the_job->finish(*the_bundle);
  return failed;
}

}  // namespace

am::Job& job() { return *the_job; }
am::Bundle& bundle() { return *the_bundle; }

}  // namespace test

int main(int argc, char** argv) {
  try {
    return test::run(argc, argv);
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
