#include "tools/splitcrun/memory_limits.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace am::launcher {
namespace {

constexpr const char* kKills = "oom_kill";  // in memory.events, memory.oom_control and vmstat
// No machine has so much; the first version says so where there is no limit.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 60;

// The number behind `name` in a file of lines "name number"; 0: there is none.
std::uint64_t number_in(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string word;
  for (std::uint64_t number = 0; file >> word >> number;) {
    if (word == name) return number;
  }
  return 0;
}

// None: no limit.
std::optional<std::uint64_t> limit_in(const std::string& path) {
  std::uint64_t bytes = 0;
  if (!(std::ifstream(path) >> bytes) || bytes >= kUnlimited) return std::nullopt;
  return bytes;
}

std::string size_text(std::uint64_t bytes) {
  return bytes >= std::uint64_t{1} << 20 ? std::to_string(bytes >> 20) + " MiB"
                                         : std::to_string(bytes) + " bytes";
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

// "/a/b", "/a" and "/".
std::vector<std::string> with_parents(std::string name) {
  std::vector<std::string> all;
  while (name.size() > 1) {
    all.push_back(name);
    name.resize(std::max<std::size_t>(name.rfind('/'), 1));
  }
  all.emplace_back("/");
  return all;
}

}  // namespace

// Lines are NUMBER:CONTROLLERS:NAME, the second version's number 0 and without controllers.
MemoryLimits::MemoryLimits(const std::string& root) : machine_file_(root + "/proc/vmstat") {
  machine_kills_ = number_in(machine_file_, kKills);
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string name = line.substr(second + 1);
    if (controllers == ",,") {
      const bool beside_first = is_folder(root + "/sys/fs/cgroup/unified");
      add(root + (beside_first ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup"), name,
          "memory.events", "memory.max");
    } else if (controllers.find(",memory,") != std::string::npos) {
      add(root + "/sys/fs/cgroup/memory", name, "memory.oom_control", "memory.limit_in_bytes");
    }
  }
}

// In a container the name can be that of the machine, while the folder is that of the container:
// then only its root is there.
void MemoryLimits::add(const std::string& mount, const std::string& name, const char* events_file,
                       const char* limit_file) {
  for (const std::string& group : with_parents(name)) {
    const std::string folder = mount + (group == "/" ? "" : group) + "/";
    if (!is_folder(folder)) continue;
    groups_.push_back({group, folder + events_file, folder + limit_file,
                       number_in(folder + events_file, kKills)});
  }
}

// The second version counts a kill in the group of the process and in all that this is in, the
// first one in that of the process alone: so a limit counts that is further out.
std::string MemoryLimits::describe_kills() const {
  const auto killed = [](const Group& group) {
    return number_in(group.events_file, kKills) > group.kills;
  };
  const auto inner = std::ranges::find_if(groups_, killed);
  const auto limited = std::find_if(inner, groups_.end(), [](const Group& group) {
    return limit_in(group.limit_file).has_value();
  });
  if (limited != groups_.end()) {
    return "the kernel has ended it, or another process, as the memory limit of " +
           size_text(*limit_in(limited->limit_file)) + " of the control group " + limited->name +
           " was reached; raise it (" + limited->limit_file + "), or start fewer processes";
  }
  if (inner != groups_.end() || number_in(machine_file_, kKills) > machine_kills_) {
    return "the kernel has ended a process since the start of the job, as memory was exhausted; "
           "start fewer processes, or let them take less";
  }
  return "";
}

}  // namespace am::launcher
