// The checks, each of some facts and nothing else. Any thread; they throw nothing. Made by
// check_all(), of Facts that tools/doctor/facts/gather.h fills.
#pragma once

#include <string>

#include "tools/doctor/checks/facts.h"
#include "tools/doctor/checks/finding.h"

namespace am::doctor {

// Memory: memory.cc, limits.cc.
Finding check_shared_memory(const SharedMemoryFacts& facts, const JobShape& job);
Finding check_memory(const MemoryFacts& facts, const JobShape& job);
Finding check_memory_limits(const MemoryFacts& facts, const JobShape& job);
Finding check_leftovers(const LeftoverFacts& facts);
Finding check_memlock(const MemlockFacts& facts);
Finding check_open_files(const OpenFilesFacts& facts, const JobShape& job);

// What the kernel allows: kernel.cc.
Finding check_cross_memory(const CrossMemoryFacts& facts);
Finding check_userfault(const UserfaultFacts& facts);
Finding check_membarrier(const MembarrierFacts& facts);
Finding check_clock(const ClockFacts& facts);

// Processors: cores.cc.
Finding check_cores(const CoresFacts& facts, const JobShape& job);
Finding check_quota(const CoresFacts& facts, const JobShape& job);
Finding check_placement(const CoresFacts& facts, const JobShape& job);

// The network between nodes: network.cc, faults.cc.
Finding check_libfabric(const NetworkFacts& facts, const JobShape& job);
Finding check_interfaces(const NetworkFacts& facts, const JobShape& job);
Finding check_provider(const NetworkFacts& facts, const JobShape& job);
// What is known to be wrong with the provider that would be used, in that version of libfabric.
Findings check_faults(const NetworkFacts& facts);

// How jobs start: launch.cc.
Finding check_launchers(const LaunchersFacts& facts);
Finding check_pmix(const LaunchersFacts& facts);
Finding check_sodium(const LaunchersFacts& facts);
Finding check_settings(const SettingsFacts& facts);
Finding check_size(const JobShape& job);
// Nothing where no job was tried.
Findings check_start(const StartFacts& facts, const JobShape& job);

// All of them, worst first.
Findings check_all(const Facts& facts);

// The provider that a job would use between nodes; "": none.
std::string provider_of(const NetworkFacts& facts);

}  // namespace am::doctor
