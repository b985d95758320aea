#include "shmem/node.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <string_view>

#include "shmem/error.h"

namespace shmem {
namespace {

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

}  // namespace

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

NodeId this_node() {
  NodeId node{};
  std::string boot;
  struct stat pid_namespace {};
  struct stat net_namespace {};
  if (!(std::ifstream("/proc/sys/kernel/random/boot_id") >> boot) ||
      stat("/proc/self/ns/pid", &pid_namespace) != 0 ||
      stat("/proc/self/ns/net", &net_namespace) != 0) {
    throw Error("shmem: cannot tell this node from others: /proc is not readable (" +
                std::string(std::strerror(errno)) + "); mount it");
  }
  boot.copy(node.boot.data(), node.boot.size() - 1);
  node.place = fnv1a(std::to_string(pid_namespace.st_ino) + "," +
                     std::to_string(net_namespace.st_ino) + "@" + host_name());
  return node;
}

}  // namespace shmem
