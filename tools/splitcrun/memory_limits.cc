#include "tools/splitcrun/memory_limits.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>

#include "shmem/node.h"

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

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string size_text(std::uint64_t bytes) {
  return bytes >= std::uint64_t{1} << 20 ? std::to_string(bytes >> 20) + " MiB"
                                         : std::to_string(bytes) + " bytes";
}

}  // namespace

// In a container the name of a group can be that of the machine, while the folder is that of the
// container: then only its root is there.
MemoryLimits::MemoryLimits(const std::string& root)
    : machine_file_(root + "/proc/vmstat"), machine_kills_(number_in(machine_file_, kKills)) {
  const std::string mount = root + "/sys/fs/cgroup";
  for (const std::string& from : {mount, mount + "/unified"}) {
    for (const std::string& folder :
         shmem::cgroup_folders(root + "/proc/self/cgroup", from, "memory")) {
      const bool first_version = is_there(folder + "/memory.oom_control");
      const std::string events =
          folder + (first_version ? "/memory.oom_control" : "/memory.events");
      if (!is_there(events)) continue;
      const std::size_t name = first_version ? folder.find('/', from.size() + 1) : from.size();
      groups_.push_back({name < folder.size() ? folder.substr(name) : "/", events,
                         folder + (first_version ? "/memory.limit_in_bytes" : "/memory.max"),
                         number_in(events, kKills)});
    }
  }
  std::ranges::stable_sort(groups_, std::ranges::greater(),
                           [](const Group& group) { return group.events_file.size(); });
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
