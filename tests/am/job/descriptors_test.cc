#include "am/job/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "am/types.h"
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

}  // namespace
}  // namespace am
