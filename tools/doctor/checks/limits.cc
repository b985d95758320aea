// Limits of a process (ulimit).
#include <algorithm>
#include <string>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/text.h"

namespace am::doctor {
namespace {

// As am/job sees to it before a job across nodes opens anything.
constexpr std::uint64_t kMostOpenFiles = 1 << 20;
constexpr std::uint64_t kOtherFiles = 64;  // of the provider and of the program
constexpr std::uint64_t kFewFiles = 24;    // a job needs some before it talks to anybody

std::string memlock_remedy(const MemlockFacts& facts) {
  if (facts.hard_bytes >= facts.segment_bytes) return "ulimit -l unlimited";
  return "\"* - memlock unlimited\" in /etc/security/limits.conf, and LimitMEMLOCK=infinity for "
         "the "
         "daemon that starts jobs (slurmd, sshd): the hard limit is " +
         bytes_text(facts.hard_bytes);
}

}  // namespace

Finding check_memory_limits(const MemoryFacts& facts, const JobShape& job) {
  const std::string segment = "a segment of " + bytes_text(facts.segment_bytes);
  if (facts.file_bytes < facts.segment_bytes) {
    return {.check = "memory-limits",
            .severity = Severity::kError,
            .seen = "files of at most " + bytes_text(facts.file_bytes) +
                    " may be made (ulimit -f), and " + segment + " counts as one",
            .means = "no process of a job starts",
            .remedy = "ulimit -f unlimited, or a smaller SPLITC_SEGMENT"};
  }
  const std::uint64_t mapped = facts.segment_bytes * std::max({1u, job.near});
  if (facts.address_space_bytes < mapped) {
    return {.check = "memory-limits",
            .severity = Severity::kError,
            .seen = bytes_text(facts.address_space_bytes) +
                    " of addresses may be used (ulimit -v), "
                    "and each process maps the segments of all processes of its node, " +
                    bytes_text(mapped),
            .means = "a job of that size does not start",
            .remedy = "ulimit -v unlimited, or a smaller SPLITC_SEGMENT"};
  }
  return {.check = "memory-limits",
          .seen = "file size limit " + bytes_text(facts.file_bytes) + ", address space limit " +
                  bytes_text(facts.address_space_bytes),
          .means = "large enough"};
}

Finding check_memlock(const MemlockFacts& facts) {
  const std::string limit =
      bytes_text(facts.soft_bytes) + " may be locked (ulimit -l)" +
      (facts.privileged ? ", but this process has CAP_IPC_LOCK and no limit" : "");
  if (!facts.hardware) {
    return {.check = "memlock",
            .seen = limit,
            .means = facts.provider.empty()
                         ? "no network hardware is used that pins memory"
                         : facts.provider + " pins no memory, so this limit does not matter to it"};
  }
  if (facts.privileged || facts.soft_bytes >= facts.segment_bytes) {
    return {.check = "memlock",
            .seen = limit,
            .means = "enough for " + facts.provider + " to register a segment of " +
                     bytes_text(facts.segment_bytes)};
  }
  return {.check = "memlock",
          .severity = Severity::kError,
          .seen = limit + ", and " + facts.provider + " pins a segment of " +
                  bytes_text(facts.segment_bytes),
          .means = "its registration fails, and the job does not start",
          .remedy = memlock_remedy(facts)};
}

Finding check_open_files(const OpenFilesFacts& facts, const JobShape& job) {
  const std::uint64_t limit = std::max(facts.soft, std::min(facts.hard, kMostOpenFiles));
  const std::string seen = std::to_string(limit) +
                           " files may be open (ulimit -Hn, to which jobs raise their own limit)";
  const std::string open = std::to_string(facts.open) + " are open now";
  const std::string remedy =
      "raise the limit: nofile in /etc/security/limits.conf, LimitNOFILE= of the daemon that "
      "starts "
      "the job";
  if (limit < facts.open + kFewFiles) {
    return {.check = "open-files",
            .severity = Severity::kError,
            .seen = seen,
            .measured = open,
            .means =
                "a job needs some " + std::to_string(kFewFiles) + " for itself, and does not start",
            .remedy = remedy};
  }
  const std::uint64_t far = job.processes - std::min(job.near, job.processes);
  if (far != 0 && limit < facts.open + far + kOtherFiles) {
    return {.check = "open-files",
            .severity = Severity::kWarning,
            .seen = seen + ", and connections to " + std::to_string(far) +
                    " processes of other nodes take one each and " + std::to_string(kOtherFiles) +
                    " more",
            .measured = open,
            .means =
                "a process that talks to all of them runs out of files, and those that it "
                "cannot answer wait",
            .remedy = remedy};
  }
  if (far != 0) {
    return {.check = "open-files",
            .seen = seen,
            .measured = open,
            .means = "enough for connections to " + count_text(far, "process", "processes") +
                     " of other nodes"};
  }
  return {.check = "open-files",
          .seen = seen,
          .measured = open,
          .means = "enough for connections to " +
                   std::to_string(limit - std::min(limit, facts.open + kOtherFiles)) +
                   " processes of other nodes, one each"};
}

}  // namespace am::doctor
