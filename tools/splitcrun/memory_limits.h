// Whether a limit of memory was why the kernel has killed a process: it says so only in numbers of
// the control groups, which are compared with what they were at the start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace am::launcher {

class MemoryLimits {
 public:
  // Reads the numbers of this process's control groups, which those of the job are in as well, of
  // both versions; below the folder `root`, which is for tests.
  explicit MemoryLimits(const std::string& root = "");

  // "the kernel has ended it, or another process, as the memory limit of 512 MiB of the control
  // group /job was reached": since the constructor. "": nothing says so. Of several groups that
  // are in one another it names the innermost one that has a limit.
  std::string describe_kills() const;

 private:
  struct Group {
    std::string name;  // as /proc/self/cgroup has it
    std::string events_file;
    std::string limit_file;
    std::uint64_t kills = 0;
  };

  const std::string machine_file_;
  const std::uint64_t machine_kills_;
  std::vector<Group> groups_;  // inner ones before those that they are in
};

}  // namespace am::launcher
