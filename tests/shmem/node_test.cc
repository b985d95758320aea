#include "shmem/node.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/shmem/in_child.h"

namespace shmem {
namespace {

using test::in_child;

// A folder that looks like a cgroup mount; gone with the test.
class Cgroups : public testing::Test {
 protected:
  Cgroups() : root_(testing::TempDir() + "/cgroups." + std::to_string(getpid())) {}
  ~Cgroups() override { std::filesystem::remove_all(root_); }

  void put(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }

  unsigned cores() { return quota_cores(root_ + "/membership", root_); }

  const std::string root_;
};

TEST(Node, is_the_same_for_a_child) {
  const NodeId mine = this_node();
  EXPECT_EQ(in_child([&] { return std::string(this_node() == mine ? "same" : "other"); }), "same");
}

TEST(Node, is_another_in_another_pid_namespace) {
  const NodeId mine = this_node();
  const auto seen = in_child([&]() -> std::string {
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return "refused";
    // The namespace begins with the next child.
    return in_child([&] { return std::string(this_node() == mine ? "same" : "other"); });
  });
  if (seen == "refused") GTEST_SKIP() << "no pid namespace";
  EXPECT_EQ(seen, "other");
}

// A folder that looks like /sys/devices/system of a machine with two nodes.
class Nodes : public testing::Test {
 protected:
  Nodes() : root_(testing::TempDir() + "/nodes." + std::to_string(getpid())) {
    std::filesystem::create_directories(root_ + "/node");
    set_online("0-1");
  }
  ~Nodes() override { std::filesystem::remove_all(root_); }

  void set_online(const std::string& text) {
    std::ofstream(root_ + "/node/online") << text << "\n";
  }
  void put(int processor, int node) {
    const std::string folder = root_ + "/cpu/cpu" + std::to_string(processor);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder + "/topology");
    std::filesystem::create_directories(folder + "/node" + std::to_string(node));
  }

  const std::string root_;
};

TEST_F(Nodes, of_a_process_is_where_all_its_processors_are) {
  const std::vector<int> processors = allowed_processors();
  EXPECT_EQ(only_node(root_), std::nullopt);  // of no processor it is known
  for (const int processor : processors) put(processor, 1);
  EXPECT_EQ(only_node(root_), 1);
  set_online("1");
  EXPECT_EQ(only_node(root_), std::nullopt);  // nothing to choose
  if (processors.size() < 2) return;
  set_online("0,1");
  put(processors[1], 0);
  EXPECT_EQ(only_node(root_), std::nullopt);
}

TEST(Node, processors_are_those_of_the_affinity_mask) {
  const std::vector<int> all = allowed_processors();
  EXPECT_EQ(std::set<int>(all.begin(), all.end()).size(), all.size());
  EXPECT_GE(usable_cores(), 1u);
  EXPECT_LE(usable_cores(), all.size());
  const auto seen = in_child([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(all.back(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    return std::to_string(allowed_processors().at(0)) + " " + std::to_string(usable_cores());
  });
  EXPECT_EQ(seen, std::to_string(all.back()) + " 1");
}

TEST_F(Cgroups, none_or_max_is_no_quota) {
  EXPECT_EQ(cores(), 0u);
  put("membership", "0::/job");
  put("job/cpu.max", "max 100000");
  EXPECT_EQ(cores(), 0u);
}

TEST_F(Cgroups, version_2_takes_the_least_from_the_leaf_to_the_root) {
  put("membership", "0::/slice/job");
  put("slice/job/cpu.max", "400000 100000");
  EXPECT_EQ(cores(), 4u);
  put("slice/cpu.max", "150000 100000");  // one and a half: two processes make progress
  EXPECT_EQ(cores(), 2u);
  put("cpu.max", "1000 100000");
  EXPECT_EQ(cores(), 1u);
}

TEST_F(Cgroups, version_1_reads_the_cpu_controller) {
  put("membership", "3:cpuset:/\n2:cpu,cpuacct:/job\n0::/");
  put("cpu,cpuacct/job/cpu.cfs_quota_us", "300000");
  put("cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  put("cpu,cpuacct/cpu.cfs_quota_us", "-1");
  put("cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cores(), 3u);
}

}  // namespace
}  // namespace shmem
