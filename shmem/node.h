// Who shares this node with me, and how many cores there are for us.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace shmem {

// Equal for two processes that can map each other's regions: same boot of the same machine, same
// pid namespace (a region is opened through /proc/<pid>), same network namespace (a doorbell may be
// a socket), same host name. Plain bytes, to be sent to the others.
struct NodeId {
  std::array<char, 40> boot;  // the kernel's random id of this boot
  std::uint64_t place;        // hash of the namespaces and the host name

  bool operator==(const NodeId&) const = default;
};

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

static_assert(std::is_trivially_copyable_v<NodeId> && sizeof(NodeId) == 48);

}  // namespace shmem
