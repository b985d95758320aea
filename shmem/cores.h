// How many cores there are for this process, and the cgroups that limit it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace shmem {

// The processors that this process may run on, at least one. Those that come first are of
// different cores; their hyper-threads follow.
std::vector<int> allowed_processors();

// Processors' worth of time that this process may use: what it may run on, less what a cgroup
// quota takes; at least 1.
unsigned usable_cores();

// The cgroup quota in processors, rounded up; 0: none. `membership` is a /proc/<pid>/cgroup file,
// `mount` the folder under which cgroups are mounted (version 1 or 2).
unsigned quota_cores(const std::string& membership, const std::string& mount);

// The folders of all cgroups that limit a process by `controller`, such as "cpu": its own, and
// those above it. `membership` and `mount` as above. None of them need be there.
std::vector<std::string> cgroup_folders(const std::string& membership, const std::string& mount,
                                        const std::string& controller);

// The NUMA node of all the processors that this process may run on. None: they are on several, or
// the machine has only one. `system` is the folder that describes the machine.
std::optional<int> only_node(const std::string& system = "/sys/devices/system");

}  // namespace shmem
