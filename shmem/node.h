// Who shares this node with me, how many of its cores there are for this process, and the cgroups
// that limit it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace shmem {

// Different for two processes that cannot map each other's regions or ring each other: equal are
// those of the same boot of the same machine, PID namespace (a region is opened by its process),
// network namespace (a doorbell may be a socket) and host name. Whether such two can, only trying
// tells (Region::open). Plain bytes, to be sent to the others.
struct NodeId {
  std::array<char, 40> boot;  // the kernel's random id of this boot
  std::uint64_t place;        // hash of the namespaces and the host name

  bool operator==(const NodeId&) const = default;
};
static_assert(std::is_trivially_copyable_v<NodeId> && sizeof(NodeId) == 48);

// "": the system does not say.
std::string host_name();

// Throws Error when /proc is not mounted; without it there are no neighbours.
NodeId this_node();

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
