// What is gathered, against what the system says in another way.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "tools/doctor/facts/gather.h"
#include "tools/doctor/facts/in_child.h"

namespace am::doctor {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// A folder that goes with it.
class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / ("facts" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  std::string path() const { return path_; }

 private:
  fs::path path_;
};

// The pid of a process that has just ended.
pid_t dead_process() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  return pid;
}

TEST(InChild, returns_what_the_work_returns_and_keeps_what_it_says_apart) {
  const ChildResult result = in_child(
      [] {
        [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, "said\n", 5);
        return std::string(1 << 20, 'x');
      },
      seconds(60));
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.said, "said\n");
  EXPECT_EQ(result.out, std::string(1 << 20, 'x'));
}

TEST(InChild, names_the_signal_that_ended_it) {
  const ChildResult result = in_child(
      []() -> std::string {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
        return "";
      },
      seconds(60));
  EXPECT_EQ(result.failure, "crashed (SIGSEGV)");
}

TEST(InChild, passes_on_what_is_thrown) {
  const ChildResult result =
      in_child([]() -> std::string { throw std::runtime_error("no luck"); }, seconds(60));
  EXPECT_EQ(result.failure, "failed: no luck");
}

TEST(InChild, ends_what_does_not_end) {
  const ChildResult result = in_child(
      []() -> std::string {
        while (true) pause();
      },
      seconds(1));
  EXPECT_EQ(result.failure, "did not answer within 1 s");
}

TEST(Leftovers, are_files_of_the_provider_whose_process_has_ended_or_has_not_mapped_them) {
  const Folder folder;
  const std::string dead = std::to_string(dead_process()) + ":0:0";
  const std::string living = std::to_string(getpid()) + ":1000:12";
  folder.write(dead, std::string(4096, 0));
  folder.write(living, "");
  for (const char* const other :
       {"sem.x", "4711", "4711:0", "4711:0:", ":0:0", "1:2:3:4", "a:0:0"}) {
    folder.write(other, "");
  }
  const LeftoverFacts facts = gather_leftovers(folder.path());
  EXPECT_TRUE(facts.listed);
  EXPECT_EQ(facts.others, 7u);
  ASSERT_EQ(facts.files.size(), 2u);
  for (const LeftoverFile& file : facts.files) {
    EXPECT_TRUE(file.name == dead || file.name == living) << file.name;
    EXPECT_EQ(file.bytes, file.name == dead ? 4096u : 0u);
    EXPECT_FALSE(file.in_use) << file.name;
  }
  EXPECT_FALSE(gather_leftovers(folder.path() + "/none").listed);
}

TEST(CgroupMemory, is_the_least_of_all_folders_above_in_both_versions) {
  const Folder folder;
  folder.write("self2", "0::/batch/job\n");
  folder.write("mount/batch/memory.max", "1000000");
  folder.write("mount/batch/memory.current", "400000");
  folder.write("mount/batch/job/memory.max", "max");
  folder.write("mount/batch/job/memory.current", "5");
  EXPECT_EQ(cgroup_memory(folder.path() + "/self2", folder.path() + "/mount"), 600000u);
  folder.write("self1", "5:devices:/\n4:memory:/job\n");
  folder.write("mount/memory/job/memory.limit_in_bytes", "5000");
  folder.write("mount/memory/job/memory.usage_in_bytes", "6000");
  folder.write("mount/memory/memory.limit_in_bytes", "9223372036854771712");
  folder.write("mount/memory/memory.usage_in_bytes", "1");
  EXPECT_EQ(cgroup_memory(folder.path() + "/self1", folder.path() + "/mount"), 0u);
  folder.write("self3", "0::/other\n");
  EXPECT_EQ(cgroup_memory(folder.path() + "/self3", folder.path() + "/mount"), std::nullopt);
}

TEST(Limits, are_those_that_the_system_has_set) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(gather_open_files().hard, limit.rlim_max);
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::uint64_t locked = limit.rlim_cur == RLIM_INFINITY ? kUnlimited : limit.rlim_cur;
  EXPECT_EQ(gather_memlock({}).soft_bytes, locked);
}

TEST(Cores, are_those_of_the_mask) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(gather_cores({}).allowed.size(), static_cast<std::size_t>(CPU_COUNT(&set)));
}

TEST(CrossMemory, is_tried_by_two_processes_that_are_gone_afterwards) {
  const CrossMemoryFacts facts = gather_cross_memory({});
  EXPECT_TRUE(facts.tried);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  Config off;
  off.cross_memory = false;
  EXPECT_FALSE(gather_cross_memory(off).wanted);
}

TEST(Settings, that_are_set_are_listed_without_the_secret) {
  setenv("SPLITC_WAIT", "block", 1);
  setenv("SPLITC_RANK", "1", 1);
  setenv("SPLITC_SECRET", "hush hush hush", 1);
  const SettingsFacts facts = gather_settings();
  unsetenv("SPLITC_WAIT");
  unsetenv("SPLITC_RANK");
  unsetenv("SPLITC_SECRET");
  ASSERT_EQ(facts.set.size(), 2u);
  EXPECT_EQ(facts.set[0], (std::pair<std::string, std::string>("SPLITC_WAIT", "block")));
  EXPECT_EQ(facts.set[1], (std::pair<std::string, std::string>("SPLITC_SECRET", "...")));
}

}  // namespace
}  // namespace am::doctor
