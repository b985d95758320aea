#include "rdma/file_limit.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace rdma {
namespace {

// Puts the limits of this process back.
class FileLimit : public testing::Test {
 protected:
  FileLimit() { getrlimit(RLIMIT_NOFILE, &before_); }
  ~FileLimit() override { setrlimit(RLIMIT_NOFILE, &before_); }

  static rlimit now() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit;
  }

  rlimit before_{};
};

TEST_F(FileLimit, soft_is_raised_to_hard_and_hard_stays) {
  const rlimit low{256, before_.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const std::uint64_t raised = raise_file_limit();
  EXPECT_EQ(raised, std::min<rlim_t>(before_.rlim_max, 1 << 20));
  EXPECT_EQ(now().rlim_cur, raised);
  EXPECT_EQ(now().rlim_max, before_.rlim_max);
  EXPECT_EQ(raise_file_limit(), raised);
}

TEST_F(FileLimit, counts_what_is_open) {
  const std::uint64_t few = open_files();
  EXPECT_GE(few, 3u);
  const int one = open("/dev/null", O_RDONLY);
  EXPECT_EQ(open_files(), few + 1);
  close(one);
  EXPECT_EQ(open_files(), few);
}

}  // namespace
}  // namespace rdma
