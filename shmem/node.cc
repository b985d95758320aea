#include "shmem/node.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include "shmem/region.h"

namespace shmem {
namespace {

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

// Quotas of one cgroup folder, in processors; 0: none.
unsigned quota_in(const std::string& folder) {
  double quota = 0;
  double period = 0;
  std::ifstream version2(folder + "/cpu.max");  // "max 100000" or "150000 100000"
  if (!(version2 >> quota >> period)) {
    quota = 0;
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;  // -1: none
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return 0;
  return std::max(1u, static_cast<unsigned>((quota + period - 1) / period));
}

// The least of two quotas, where 0 is none.
unsigned least(unsigned a, unsigned b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

// Adds that of `path`, inside the hierarchy mounted at `root`, and those above it.
void add_with_above(std::vector<std::string>& folders, const std::string& root, std::string path) {
  folders.push_back(root);
  while (path.size() > 1) {
    folders.push_back(root + path);
    path.resize(path.find_last_of('/'));
  }
}

// The first processor of the core that `processor` belongs to.
int first_sibling(int processor) {
  int first = processor;
  std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                "/topology/thread_siblings_list") >>
      first;
  return first;
}

// By the link to its node, such as "node0", that the folder of a processor has.
std::optional<int> node_of(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    int node = 0;
    if (std::sscanf(entry.path().filename().c_str(), "node%d", &node) == 1) return node;
  }
  return std::nullopt;
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

std::vector<int> allowed_processors() {
  std::vector<int> allowed;
  for (int room = 1024; room <= (1 << 20); room *= 2) {  // EINVAL: the kernel knows more
    cpu_set_t* set = CPU_ALLOC(room);
    const std::size_t bytes = CPU_ALLOC_SIZE(room);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    for (int i = 0; known && i < room; ++i) {
      if (CPU_ISSET_S(i, bytes, set)) allowed.push_back(i);
    }
    CPU_FREE(set);
    if (known) break;
  }
  if (allowed.empty()) allowed.push_back(0);
  std::set<int> seen;
  std::stable_partition(allowed.begin(), allowed.end(), [&](int processor) {
    return seen.insert(first_sibling(processor)).second;
  });
  return allowed;
}

unsigned usable_cores() {
  const auto allowed = static_cast<unsigned>(allowed_processors().size());
  return least(allowed, quota_cores("/proc/self/cgroup", "/sys/fs/cgroup"));
}

unsigned quota_cores(const std::string& membership, const std::string& mount) {
  unsigned cores = 0;
  for (const std::string& folder : cgroup_folders(membership, mount, "cpu")) {
    cores = least(cores, quota_in(folder));
  }
  return cores;
}

std::vector<std::string> cgroup_folders(const std::string& membership, const std::string& mount,
                                        const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream file(membership);
  std::string line;  // "0::/path" in version 2, "7:cpu,cpuacct:/path" in version 1
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    if (line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      add_with_above(folders, mount, path);
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      add_with_above(folders, mount + "/" + controllers, path);
    }
  }
  return folders;
}

std::optional<int> only_node(const std::string& system) {
  std::string nodes;  // such as "0-3,8"
  std::getline(std::ifstream(system + "/node/online"), nodes);
  if (nodes.find_first_of(",-") == std::string::npos) return std::nullopt;
  const auto folder_of = [&](int processor) {
    return system + "/cpu/cpu" + std::to_string(processor);
  };
  const std::vector<int> processors = allowed_processors();
  const std::optional<int> node = node_of(folder_of(processors[0]));
  if (!node) return std::nullopt;
  const std::string link = "/node" + std::to_string(*node);
  std::error_code error;
  const bool same = std::ranges::all_of(processors, [&](int processor) {
    return std::filesystem::exists(folder_of(processor) + link, error);
  });
  return same ? node : std::nullopt;
}

}  // namespace shmem
