// Who shares this node with me.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

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

// "": the system does not say.
std::string host_name();

// Throws Error when /proc is not mounted; without it there are no neighbours.
NodeId this_node();

static_assert(std::is_trivially_copyable_v<NodeId> && sizeof(NodeId) == 48);

}  // namespace shmem
