#include "rdma/unmap_monitor.h"

#include <fcntl.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rdma/error.h"
#include "tests/rdma/no_userfaultfd.h"

namespace rdma {
namespace {

const auto kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

std::byte* map(std::size_t pages, void* at = nullptr) {
  const int fixed = at == nullptr ? 0 : MAP_FIXED;
  void* const mapped =
      mmap(at, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  EXPECT_NE(mapped, MAP_FAILED);
  return static_cast<std::byte*>(mapped);
}

class Unmapped : public testing::Test {
 protected:
  // Fails only where the kernel refuses, and then with a sentence.
  void SetUp() override {
    try {
      monitor_ = std::make_unique<UserfaultMonitor>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  AddressRange pages(std::size_t first, std::size_t count) const {
    return address_range({memory_ + first * kPage, count * kPage});
  }
  // Whether all of `range` has been told since the last question, and nothing of the rest of
  // memory_.
  bool told(AddressRange range) {
    std::vector<char> gone(kPages);
    for (const AddressRange& one : monitor_->collect()) {
      for (std::size_t i = 0; i < kPages; ++i) {
        if (one.begin < pages(i, 1).end && one.end > pages(i, 1).begin) gone[i] = 1;
      }
    }
    for (std::size_t i = 0; i < kPages; ++i) {
      const bool wanted = pages(i, 1).begin >= range.begin && pages(i, 1).end <= range.end;
      if (wanted != (gone[i] != 0)) return false;
    }
    return true;
  }
  bool told_nothing() { return told({0, 0}); }

  static constexpr std::size_t kPages = 16;
  std::byte* memory_ = map(kPages);
  std::unique_ptr<UserfaultMonitor> monitor_;
};

TEST_F(Unmapped, munmap_is_told) {
  ASSERT_TRUE(monitor_->watch(pages(0, 16)));
  memory_[0] = std::byte{1};
  EXPECT_TRUE(told_nothing());
  munmap(memory_ + 4 * kPage, 3 * kPage);
  EXPECT_TRUE(told(pages(4, 3)));
  EXPECT_TRUE(told_nothing());
  munmap(memory_, 4 * kPage);  // the hole may be somebody else's by now
  EXPECT_TRUE(told(pages(0, 4)));
}

TEST_F(Unmapped, only_what_is_watched_is_told) {
  ASSERT_TRUE(monitor_->watch(pages(2, 2)));
  munmap(memory_ + 8 * kPage, 8 * kPage);
  EXPECT_TRUE(told_nothing());
  monitor_->forget(pages(2, 2));
  munmap(memory_, 8 * kPage);
  EXPECT_TRUE(told_nothing());
}

TEST_F(Unmapped, mremap_is_told) {
  ASSERT_TRUE(monitor_->watch(pages(0, 2)));
  std::byte* const far = map(64);
  void* const moved = mremap(memory_, 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, far);
  ASSERT_EQ(moved, far);
  EXPECT_TRUE(told(pages(0, 2)));
  munmap(far, 64 * kPage);
}

TEST_F(Unmapped, a_mapping_over_it_is_told) {
  ASSERT_TRUE(monitor_->watch(pages(0, 16)));
  map(2, memory_ + kPage);
  EXPECT_TRUE(told(pages(1, 2)));
}

TEST_F(Unmapped, pages_taken_away_are_told) {
  ASSERT_TRUE(monitor_->watch(pages(0, 16)));
  std::memset(memory_, 1, kPages * kPage);
  madvise(memory_ + kPage, kPage, MADV_DONTNEED);
  EXPECT_TRUE(told(pages(1, 1)));
  madvise(memory_ + 5 * kPage, 2 * kPage, MADV_FREE);
  EXPECT_TRUE(told(pages(5, 2)));
}

TEST_F(Unmapped, memory_of_memfd_is_told) {
  const int fd = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(4 * kPage)), 0);
  ASSERT_EQ(mmap(memory_, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
            memory_);
  close(fd);
  ASSERT_TRUE(monitor_->watch(pages(0, 4)));
  std::memset(memory_, 1, 4 * kPage);
  madvise(memory_, kPage, MADV_REMOVE);
  EXPECT_TRUE(told(pages(0, 1)));
  munmap(memory_, 4 * kPage);
  EXPECT_TRUE(told(pages(0, 4)));
}

TEST_F(Unmapped, what_several_watch_is_told_until_the_last_forgets) {
  ASSERT_TRUE(monitor_->watch(pages(2, 6)));  //   234567
  ASSERT_TRUE(monitor_->watch(pages(0, 4)));  // 0123
  ASSERT_TRUE(monitor_->watch(pages(1, 9)));  //  123456789
  monitor_->forget(pages(2, 6));
  madvise(memory_, kPages * kPage, MADV_DONTNEED);
  EXPECT_TRUE(told(pages(0, 10)));
  monitor_->forget(pages(1, 9));
  madvise(memory_, kPages * kPage, MADV_DONTNEED);
  EXPECT_TRUE(told(pages(0, 4)));
  monitor_->forget(pages(0, 4));
  madvise(memory_, kPages * kPage, MADV_DONTNEED);
  EXPECT_TRUE(told_nothing());
}

TEST_F(Unmapped, memory_mapped_again_is_watched_again) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(monitor_->watch(pages(0, 4)));
    map(4, memory_);
    ASSERT_TRUE(told(pages(0, 4)));
    memory_[0] = std::byte{1};
    if (i % 2 == 0) monitor_->forget(pages(0, 4));
  }
}

TEST_F(Unmapped, no_event_is_lost_when_there_are_many) {
  constexpr std::size_t kMany = 2000;
  std::byte* const many = map(kMany);
  ASSERT_TRUE(monitor_->watch(address_range({many, kMany * kPage})));
  for (std::size_t i = 0; i < kMany; i += 2) madvise(many + i * kPage, kPage, MADV_DONTNEED);
  std::vector<char> gone(kMany);
  for (const AddressRange& one : monitor_->collect()) {
    for (std::size_t i = 0; i < kMany; ++i) {
      const AddressRange page = address_range({many + i * kPage, kPage});
      if (one.begin < page.end && one.end > page.begin) gone[i] = 1;
    }
  }
  for (std::size_t i = 0; i < kMany; i += 2) EXPECT_TRUE(gone[i]) << i;
  munmap(many, kMany * kPage);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep it for a while
TEST_F(Unmapped, memory_that_free_gives_back_is_told) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;  // mapped for itself
  auto* const block = static_cast<std::byte*>(std::malloc(kBytes));
  const AddressRange range = address_range({block, kBytes});
  ASSERT_TRUE(monitor_->watch(range));
  block[kBytes / 2] = std::byte{1};
  std::free(block);
  bool all = false;
  for (const AddressRange& one : monitor_->collect()) {
    all = all || (one.begin <= range.begin && one.end >= range.end - kPage);
  }
  EXPECT_TRUE(all);
}
#endif

// What another thread has unmapped is told to who learns of it.
TEST_F(Unmapped, other_threads_are_watched_too) {
  ASSERT_TRUE(monitor_->watch(pages(0, 16)));
  for (std::size_t i = 0; i < kPages; ++i) {
    std::thread([&] { munmap(memory_ + i * kPage, kPage); }).join();
    EXPECT_TRUE(told(pages(i, 1))) << i;
  }
}

TEST_F(Unmapped, calls_do_not_hang_while_the_monitor_ends) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop.load()) {
      std::byte* const mine = map(4);
      mine[0] = std::byte{1};
      munmap(mine, 4 * kPage);
      madvise(memory_, kPages * kPage, MADV_DONTNEED);
    }
  });
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(monitor_->watch(pages(0, 16)));
    while (monitor_->collect().empty()) {
    }
    monitor_ = nullptr;
    monitor_ = std::make_unique<UserfaultMonitor>();
  }
  stop.store(true);
  other.join();
}

TEST_F(Unmapped, what_a_child_unmaps_is_its_own) {
  ASSERT_TRUE(monitor_->watch(pages(0, 16)));
  const pid_t child = fork();
  if (child == 0) _exit(munmap(memory_, kPages * kPage) == 0 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(told_nothing());
}

// What a process says that may not watch.
void try_forbidden() {
  if (!test::forbid_userfaultfd()) _exit(2);
  try {
    const UserfaultMonitor monitor;
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    _exit(error.code == EPERM ? 0 : 1);
  }
}

TEST(UnmapMonitorDeathTest, says_that_the_system_refuses) {
  EXPECT_EXIT(try_forbidden(), testing::ExitedWithCode(0),
              "cannot notice when memory is unmapped.*seccomp");
}

// No fixture: ThreadSanitizer lets the child of a process with threads make none.
TEST(UnmapMonitorDeathTest, leaves_closed_standard_streams_closed) {
  try {
    const UserfaultMonitor possible;
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EXIT(
      {
        for (int fd = 0; fd < 3; ++fd) close(fd);
        const UserfaultMonitor monitor;
        int open = 0;
        for (int fd = 0; fd < 3; ++fd) open += fcntl(fd, F_GETFD) == -1 ? 0 : 1;
        _exit(open);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(Unmapped, what_cannot_be_watched_is_said) {
  EXPECT_FALSE(monitor_->watch(address_range({memory_ + kPages * kPage * 1'000'000'000, kPage})));
  UserfaultMonitor other;
  ASSERT_TRUE(other.watch(pages(0, 1)));
  EXPECT_FALSE(monitor_->watch(pages(0, 2)));
}

}  // namespace
}  // namespace rdma
