// How many cores there are for this process.
#pragma once

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

}  // namespace shmem
