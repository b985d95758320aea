// What the tests share that look at jobs across nodes from outside.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/am/job/program.h"

namespace am::test {

using Words = std::vector<std::string>;

inline constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
inline constexpr const char* kFarVictim = "tests/jobs/far_victim";

// `command` as a job of splitcrun on two pretended nodes.
Words on_two_nodes(int processes, const std::string& provider, const Words& command);

// What each process of far_victim printed: its pid, by rank.
std::map<int, pid_t> pids_in(const std::string& output);

// In /dev/shm.
std::set<std::string> shared_memory_files();

// Anything between nothing and 30 ms.
void let_pass(std::mt19937_64& random);

// Checks that all of them have ended.
void expect_gone(const std::map<int, pid_t>& processes);

// A job of three processes on two pretended nodes that no launcher starts.
class Meeting {
 public:
  Meeting(const std::string& provider, const Words& command);
  Program& operator[](int rank) { return *processes_.at(static_cast<std::size_t>(rank)); }

  static constexpr int kSize = 3;

 private:
  std::vector<std::unique_ptr<Program>> processes_;
};

}  // namespace am::test
