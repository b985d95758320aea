#include "am/job/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "am/types/types.h"
#include "tests/shmem/in_child.h"

namespace am {
namespace {

using shmem::test::in_child;

bool is_null(int fd) {
  struct stat opened {
  }, null{};
  return fstat(fd, &opened) == 0 && stat("/dev/null", &null) == 0 && opened.st_rdev == null.st_rdev;
}

TEST(StandardStreams, that_are_closed_become_dev_null) {
  for (unsigned closed = 1; closed < 8; ++closed) {  // a bit for each
    EXPECT_EQ(in_child([=]() -> std::string {
                const int file = open("/proc/self/stat", O_RDONLY);
                for (int fd = 0; fd < 3; ++fd) dup2(file, fd);
                for (int fd = 0; fd < 3; ++fd) {
                  if ((closed >> fd & 1) != 0) close(fd);
                }
                const int next = dup(file);
                close(next);
                fill_standard_streams();
                for (int fd = 0; fd < 3; ++fd) {
                  if (is_null(fd) != ((closed >> fd & 1) != 0))
                    return "wrong at " + std::to_string(fd);
                  if ((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0) return "closed by exec";
                }
                return "right";
              }),
              "right")
        << closed;
  }
}

TEST(OpenFilesLimit, is_raised_to_the_hard_one_and_can_be_put_back) {
  EXPECT_EQ(in_child([]() -> std::string {
              const rlimit little{.rlim_cur = 50, .rlim_max = 60};
              if (setrlimit(RLIMIT_NOFILE, &little) != 0) return "cannot be lowered";
              const auto before = raise_open_files_limit();
              rlimit now{};
              getrlimit(RLIMIT_NOFILE, &now);
              if (!before || before->rlim_cur != 50) return "says nothing of what was";
              if (raise_open_files_limit()) return "says that it has changed";
              return std::to_string(now.rlim_cur) + " " + std::to_string(now.rlim_max);
            }),
            "60 60");
}

// Puts the limits of this process back.
class OpenFiles : public testing::Test {
 protected:
  OpenFiles() { getrlimit(RLIMIT_NOFILE, &before_); }
  ~OpenFiles() override { setrlimit(RLIMIT_NOFILE, &before_); }

  static rlimit now() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit;
  }

  rlimit before_{};
};

TEST_F(OpenFiles, have_a_soft_limit_that_is_raised_to_the_hard_one_which_stays) {
  const rlimit low{256, before_.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  raise_open_files_limit();
  const std::uint64_t raised = open_files_limit();
  EXPECT_EQ(raised, std::min<rlim_t>(before_.rlim_max, 1 << 20));
  EXPECT_EQ(now().rlim_cur, raised);
  EXPECT_EQ(now().rlim_max, before_.rlim_max);
  raise_open_files_limit();
  EXPECT_EQ(open_files_limit(), raised);
}

TEST_F(OpenFiles, are_counted) {
  const std::uint64_t few = open_files();
  EXPECT_GE(few, 3u);
  const int one = open("/dev/null", O_RDONLY);
  EXPECT_EQ(open_files(), few + 1);
  close(one);
  EXPECT_EQ(open_files(), few);
}

}  // namespace
}  // namespace am
