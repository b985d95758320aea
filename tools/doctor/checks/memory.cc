// Memory that the processes of a node share, and what dead ones have left of it.
#include <algorithm>
#include <string>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/text.h"

namespace am::doctor {
namespace {

constexpr std::uint64_t kNearlyNothing = 1 << 20;  // bytes free of /dev/shm
constexpr std::size_t kNamed = 8;                  // leftovers that are named

std::uint64_t processes_here(const JobShape& job) { return std::max(1u, job.here); }

std::string needs_text(std::uint64_t segment_bytes, const JobShape& job) {
  return count_text(processes_here(job), "segment", "segments") + " of " +
         bytes_text(segment_bytes) + " (SPLITC_SEGMENT)";
}

// "mount -o remount,size=4G /dev/shm", for `bytes` in all.
std::string enlarge_command(std::uint64_t bytes) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  return "mount -o remount,size=" + std::to_string((bytes + kGiB - 1) / kGiB) +
         "G /dev/shm, or in a container --shm-size";
}

// Where memfd_create fails every page of every segment comes out of /dev/shm.
Finding check_fallback(const SharedMemoryFacts& facts, const JobShape& job) {
  const std::uint64_t needed = facts.segment_bytes * processes_here(job);
  const std::string begin = "memfd_create is refused (" + facts.memfd_refusal + ")";
  if (!facts.mounted) {
    return {.check = "shared-memory",
            .severity = Severity::kError,
            .seen = begin + ", and there is no /dev/shm",
            .means = "processes cannot share memory, so no job starts",
            .remedy = "allow memfd_create (seccomp profile), or: mount -t tmpfs tmpfs /dev/shm"};
  }
  const std::string space = "/dev/shm is " + bytes_text(facts.bytes);
  if (facts.free_bytes < needed) {
    return {.check = "shared-memory",
            .severity = Severity::kError,
            .seen = begin + "; " + space + ", and " + needs_text(facts.segment_bytes, job) +
                    " need " + bytes_text(needed),
            .measured = bytes_text(facts.free_bytes) + " free",
            .means = "segments come out of /dev/shm whole, and a job of that size does not start",
            .remedy = enlarge_command(facts.bytes - facts.free_bytes + needed) +
                      ", or a smaller SPLITC_SEGMENT"};
  }
  return {.check = "shared-memory",
          .severity = Severity::kWarning,
          .seen = begin + "; " + space,
          .measured = bytes_text(facts.free_bytes) + " free",
          .means = "segments come out of /dev/shm whole, touched or not, which takes time and " +
                   bytes_text(needed),
          .remedy = "allow memfd_create (seccomp profile of the container)"};
}

std::string named(const std::vector<const LeftoverFile*>& files) {
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + files[i]->name;
  }
  return text + (files.size() > kNamed ? ", ..." : "");
}

std::string remove_command(const std::vector<const LeftoverFile*>& files) {
  std::string text = "rm";
  for (std::size_t i = 0; i < std::min(files.size(), kNamed); ++i) {
    text += " /dev/shm/" + files[i]->name;
  }
  if (files.size() > kNamed) {
    text += " and " + std::to_string(files.size() - kNamed) + " more";
  }
  return text;
}

}  // namespace

Finding check_shared_memory(const SharedMemoryFacts& facts, const JobShape& job) {
  if (!facts.node_refusal.empty()) {
    return {.check = "shared-memory",
            .severity = Severity::kError,
            .seen = facts.node_refusal,
            .means = "no process of a job starts",
            .remedy = "mount -t proc proc /proc, or what in the container hides it"};
  }
  if (!facts.memfd_refusal.empty()) return check_fallback(facts, job);
  if (!facts.region_refusal.empty()) {
    return {.check = "shared-memory",
            .severity = Severity::kError,
            .seen = "a segment of " + bytes_text(facts.segment_bytes) +
                    " cannot be made: " + facts.region_refusal,
            .means = "no process of a job starts",
            .remedy = "a smaller SPLITC_SEGMENT, or what the sentence says"};
  }
  const std::string made = "a segment of " + bytes_text(facts.segment_bytes) +
                           " was made by memfd_create, which takes nothing of /dev/shm";
  if (!facts.mounted) {
    return {.check = "shared-memory",
            .seen = made + "; there is no /dev/shm",
            .means = "jobs need none, unless SPLITC_PROVIDER=shm"};
  }
  const std::string space = "; /dev/shm is " + bytes_text(facts.bytes);
  if (facts.free_bytes < kNearlyNothing) {
    return {.check = "shared-memory",
            .severity = Severity::kWarning,
            .seen = made + space + " and full",
            .measured = bytes_text(facts.free_bytes) + " free",
            .means =
                "jobs start; libfabric's provider shm, and an MPI library in the same program, "
                "find no room for their files",
            .remedy = "ls -l /dev/shm shows whose files those are; remove what is left over, or " +
                      enlarge_command(2 * facts.bytes)};
  }
  return {.check = "shared-memory",
          .seen = made + space,
          .measured = bytes_text(facts.free_bytes) + " free",
          .means = "segments can be shared"};
}

Finding check_memory(const MemoryFacts& facts, const JobShape& job) {
  const std::uint64_t needed = facts.segment_bytes * processes_here(job);
  const std::string needs =
      bytes_text(needed) + " when all of " + needs_text(facts.segment_bytes, job) + " is touched";
  if (facts.commit_bytes && *facts.commit_bytes < needed) {
    return {
        .check = "memory",
        .severity = Severity::kError,
        .seen = needs +
                ", and the kernel commits no more than it has "
                "(vm.overcommit_memory is 2)",
        .measured = bytes_text(*facts.commit_bytes) + " left to commit",
        .means = "segments are reserved at the start, so the job does not start",
        .remedy = "a smaller SPLITC_SEGMENT, fewer processes, or sysctl vm.overcommit_memory=0"};
  }
  if (!facts.available_bytes && !facts.cgroup_bytes) {
    return {.check = "memory",
            .seen = needs + "; /proc/meminfo cannot be read",
            .means = "it is not known whether that fits"};
  }
  const std::uint64_t free = facts.available_bytes.value_or(kUnlimited);
  const std::uint64_t available = std::min(free, facts.cgroup_bytes.value_or(kUnlimited));
  const bool by_cgroup = facts.cgroup_bytes && *facts.cgroup_bytes <= free;
  const std::string measured =
      bytes_text(available) + (by_cgroup ? " left by the cgroup's limit" : " available");
  if (available < needed) {
    return {.check = "memory",
            .severity = Severity::kWarning,
            .seen = needs + ", more than there is",
            .measured = measured,
            .means =
                "a program that uses all of its segments is killed (SIGBUS or signal 9); only "
                "touched pages count",
            .remedy = "a smaller SPLITC_SEGMENT, fewer processes" +
                      std::string(by_cgroup ? ", or more memory for the cgroup or batch job" : "")};
  }
  return {.check = "memory", .seen = needs, .measured = measured, .means = "that fits"};
}

Finding check_leftovers(const LeftoverFacts& facts) {
  if (!facts.listed) {
    return {.check = "leftovers",
            .seen = "/dev/shm cannot be read",
            .means = "it is not known whether dead jobs have left files there"};
  }
  std::vector<const LeftoverFile*> dead;
  std::uint64_t bytes = 0;
  for (const LeftoverFile& file : facts.files) {
    if (file.in_use) continue;
    dead.push_back(&file);
    bytes += file.bytes;
  }
  const std::size_t living = facts.files.size() - dead.size();
  if (dead.empty()) {
    return {.check = "leftovers",
            .seen = "no file of a dead process in /dev/shm",
            .measured = std::to_string(living) + " of running processes, " +
                        std::to_string(facts.others) + " of other programs",
            .means =
                "the library's own memory has no name and cannot be left; libfabric's shm "
                "has left none"};
  }
  return {
      .check = "leftovers",
      .severity = Severity::kWarning,
      .seen = count_text(dead.size(), "file", "files") + " of " + bytes_text(bytes) +
              " in /dev/shm, named as libfabric's provider shm names its own, of processes that "
              "do not run here: " +
              named(dead),
      .means =
          "memory that nobody uses, unless another container shares this /dev/shm; killed "
          "processes leave such files (SPLITC_PROVIDER=shm, or an MPI library over libfabric)",
      .remedy = remove_command(dead)};
}

}  // namespace am::doctor
