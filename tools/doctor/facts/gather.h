// tools/doctor/facts: looks at this machine, and judges nothing (tools/doctor/checks does). Each
// function looks at one thing. It uses am/job/config, which alone reads the environment, rdma and
// shmem.
//
// One thread. Functions that start processes or load libraries say so; the others read some files.
// What cannot be found out is left as the fact's default; none of them throws.
#pragma once

#include <optional>
#include <string>

#include "am/job/config/config.h"
#include "tools/doctor/checks/facts.h"

namespace am::doctor {

// All of one machine but the network, by the functions below, each of which network.cc calls. `job`
// is kept unchanged. Starts three processes, which end before it returns. Some milliseconds.
Facts gather_machine(const Config& config, const JobShape& job);

// What depends on libfabric, and then what depends on the provider that would be used: memlock and
// userfaultfd. Loads libfabric in a process of its own, and waits for that at most 90 s.
void gather_network(Facts& facts, const Config& config);

SharedMemoryFacts gather_shared_memory(const Config& config);
MemoryFacts gather_memory(const Config& config);
LeftoverFacts gather_leftovers(const std::string& folder = "/dev/shm");
MemlockFacts gather_memlock(const Config& config);
OpenFilesFacts gather_open_files();
CrossMemoryFacts gather_cross_memory(const Config& config);  // starts two processes
UserfaultFacts gather_userfault();
MembarrierFacts gather_membarrier();
ClockFacts gather_clock();
CoresFacts gather_cores(const Config& config);
LaunchersFacts gather_launchers(const Config& config);  // loads libpmix and libsodium in a process
SettingsFacts gather_settings();

// What is left of the limits of a memory cgroup, from the folder of the process up; none: no limit.
// `membership` is a /proc/<pid>/cgroup file, `mount` the folder under which cgroups are mounted
// (version 1 or 2).
std::optional<std::uint64_t> cgroup_memory(const std::string& membership, const std::string& mount);

}  // namespace am::doctor
