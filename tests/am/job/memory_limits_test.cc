// What control groups tell of a process that the kernel has killed. Their files are made up here,
// as Linux has them.
#include "tools/splitcrun/memory_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace am::launcher {
namespace {

class MemoryLimitsTest : public testing::Test {
 protected:
  MemoryLimitsTest() { std::filesystem::remove_all(root_); }
  ~MemoryLimitsTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << text;
  }
  // A group of the second version.
  void group(const std::string& path, int kills, const std::string& limit) const {
    write("/sys/fs/cgroup" + path + "/memory.events",
          "low 0\nhigh 0\nmax 17\noom 3\noom_kill " + std::to_string(kills) + "\n");
    write("/sys/fs/cgroup" + path + "/memory.max", limit + "\n");
  }

  const std::string root_ = testing::TempDir() + "/groups." + std::to_string(getpid());
};

TEST_F(MemoryLimitsTest, name_the_innermost_group_with_a_limit_if_a_process_was_killed) {
  write("/proc/self/cgroup", "0::/slice/job/step\n");
  group("/slice", 4, "8589934592");
  group("/slice/job", 1, "536870912");
  group("/slice/job/step", 1, "max");
  const MemoryLimits limits(root_);
  EXPECT_EQ(limits.describe_kills(), "") << "all of that was before";
  group("/slice", 5, "8589934592");
  group("/slice/job", 2, "536870912");
  group("/slice/job/step", 2, "max");
  EXPECT_EQ(limits.describe_kills(),
            "the kernel has ended it, or another process, as the memory limit of 512 MiB of the "
            "control group /slice/job was reached; raise it (" +
                root_ + "/sys/fs/cgroup/slice/job/memory.max), or start fewer processes");
}

TEST_F(MemoryLimitsTest, are_those_of_the_first_version_too) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/job\n0::/\n");
  const std::string folder = "/sys/fs/cgroup/memory/job/";
  const std::string control = "oom_kill_disable 0\nunder_oom 0\noom_kill ";
  write(folder + "memory.oom_control", control + "0\n");
  write(folder + "memory.limit_in_bytes", "1000000\n");
  write("/sys/fs/cgroup/unified/cgroup.procs", "");
  const MemoryLimits limits(root_);
  write(folder + "memory.oom_control", control + "1\n");
  const std::string said = limits.describe_kills();
  EXPECT_NE(said.find("the memory limit of 1000000 bytes of the control group /job was reached"),
            std::string::npos)
      << said;
}

// Whose folders begin at its own group, while the name is that of the machine.
TEST_F(MemoryLimitsTest, of_a_container_are_those_of_its_root) {
  write("/proc/self/cgroup", "0::/machine.slice/container\n");
  group("", 0, "2147483648");
  const MemoryLimits limits(root_);
  group("", 1, "2147483648");
  const std::string said = limits.describe_kills();
  EXPECT_NE(said.find("limit of 2048 MiB of the control group / was"), std::string::npos) << said;
}

TEST_F(MemoryLimitsTest, that_nobody_has_set_leave_the_machine) {
  const std::string unlimited = "9223372036854771712\n";
  write("/proc/self/cgroup", "4:memory:/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", unlimited);
  write("/proc/vmstat", "nr_free_pages 7\noom_kill 2\n");
  const MemoryLimits limits(root_);
  EXPECT_EQ(limits.describe_kills(), "");
  write("/proc/vmstat", "nr_free_pages 7\noom_kill 3\n");
  const std::string said = limits.describe_kills();
  EXPECT_NE(said.find("as memory was exhausted"), std::string::npos) << said;
}

TEST_F(MemoryLimitsTest, say_nothing_where_there_are_no_files) {
  EXPECT_EQ(MemoryLimits(root_).describe_kills(), "");
}

}  // namespace
}  // namespace am::launcher
