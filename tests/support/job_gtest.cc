#include "tests/support/job_gtest.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "tests/support/seed.h"

namespace test {
namespace {

class StayTogether : public testing::EmptyTestEventListener {
 public:
  explicit StayTogether(std::function<void()> meet) : meet_(std::move(meet)) {}

 private:
  void OnTestEnd(const testing::TestInfo& info) override {
    if (!info.result()->Failed()) return meet_();
    std::fflush(nullptr);
    _exit(1);
  }

  std::function<void()> meet_;
};

}  // namespace

int run_cases(int argc, char** argv, const JobGtest& job) {
  const auto given = take_seed(argc, argv);
  GTEST_FLAG_SET(brief, job.rank != 0);
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (job.rank != 0) delete listeners.Release(listeners.default_xml_generator());
  listeners.Append(new StayTogether(job.meet));
  set_seed(job.share(given.value_or(kUsualSeed)), job.rank == 0);
  return RUN_ALL_TESTS();
}

}  // namespace test
