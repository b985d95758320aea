#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "am/route/process_stat.h"
#include "shmem/node.h"
#include "shmem/region.h"
#include "tools/doctor/facts/gather.h"

namespace am::doctor {
namespace {

std::uint64_t soft_limit(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return limit.rlim_cur;
}

using Room = std::optional<std::uint64_t>;

// A line such as "MemAvailable:   23618040 kB" of /proc/meminfo, in bytes.
Room meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    std::uint64_t kib = 0;
    if (word == name + ":" && file >> kib) return kib << 10;
    std::getline(file, word);
  }
  return std::nullopt;
}

bool overcommit_is_strict() {
  int mode = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> mode;
  return mode == 2;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::uint64_t value = 0;
  if (!(std::ifstream(path) >> value)) return std::nullopt;  // also of "max"
  return value;
}

Room least(Room a, Room b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// What the limit of one folder leaves.
Room room_in(const std::string& folder) {
  // Version 1 writes a number near 2^63 where there is no limit.
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;
  Room limit = number_in(folder + "/memory.max");
  Room used = number_in(folder + "/memory.current");
  if (!limit) {
    limit = number_in(folder + "/memory.limit_in_bytes");
    used = number_in(folder + "/memory.usage_in_bytes");
  }
  if (!limit || !used || *limit >= kNoLimit) return std::nullopt;
  return *limit - std::min(*limit, *used);
}

// Of names that libfabric's provider shm gives its files: process, user and a number,
// "4711:1000:0".
std::optional<std::int32_t> owner_of(const std::string& name) {
  std::int32_t pid = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data(), end, pid);
  const bool digits = name.find_first_not_of("0123456789:") == std::string::npos;
  if (error != std::errc() || at == end || *at != ':' || !digits || name.back() == ':') {
    return std::nullopt;
  }
  return std::ranges::count(name, ':') == 2 ? std::optional(pid) : std::nullopt;
}

// True also where the system does not say.
bool maps_file(std::int32_t pid, const std::string& path) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  bool any = false;
  for (std::string line; std::getline(maps, line);) {
    any = true;
    if (line.find(path) != std::string::npos) return true;
  }
  return !any;
}

}  // namespace

SharedMemoryFacts gather_shared_memory(const Config& config) {
  SharedMemoryFacts facts{.segment_bytes = config.segment_bytes};
  const int fd = memfd_create("splitc-doctor", MFD_CLOEXEC);
  if (fd < 0) {
    facts.memfd_refusal = std::strerror(errno);
  } else {
    close(fd);
    try {
      const auto region =
          shmem::Region::create({.what = "a segment", .bytes = config.segment_bytes});
    } catch (const shmem::Error& error) {
      facts.region_refusal = error.what();
    }
  }
  try {
    static_cast<void>(shmem::this_node());
  } catch (const shmem::Error& error) {
    facts.node_refusal = error.what();
  }
  struct statvfs space {};
  facts.mounted = statvfs("/dev/shm", &space) == 0;
  facts.bytes = std::uint64_t{space.f_blocks} * space.f_frsize;
  facts.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  return facts;
}

std::optional<std::uint64_t> cgroup_memory(const std::string& membership,
                                           const std::string& mount) {
  Room room;
  for (const std::string& folder : shmem::cgroup_folders(membership, mount, "memory")) {
    room = least(room, room_in(folder));
  }
  return room;
}

MemoryFacts gather_memory(const Config& config) {
  MemoryFacts facts{.segment_bytes = config.segment_bytes,
                    .available_bytes = meminfo("MemAvailable"),
                    .cgroup_bytes = cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup"),
                    .commit_bytes = std::nullopt,
                    .file_bytes = soft_limit(RLIMIT_FSIZE),
                    .address_space_bytes = soft_limit(RLIMIT_AS)};
  if (overcommit_is_strict()) {
    const std::uint64_t limit = meminfo("CommitLimit").value_or(0);
    facts.commit_bytes = limit - std::min(limit, meminfo("Committed_AS").value_or(0));
  }
  return facts;
}

LeftoverFacts gather_leftovers(const std::string& folder) {
  namespace fs = std::filesystem;
  LeftoverFacts facts;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  facts.listed = !error;
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    const auto pid = owner_of(name);
    if (!pid) {
      ++facts.others;
      continue;
    }
    std::error_code unknown;
    const std::uintmax_t bytes = at->file_size(unknown);
    facts.files.push_back({.name = name,
                           .bytes = unknown ? 0 : bytes,
                           .pid = *pid,
                           .in_use = !has_ended(*pid) && maps_file(*pid, at->path())});
  }
  std::ranges::sort(facts.files, {}, &LeftoverFile::name);
  return facts;
}

}  // namespace am::doctor
