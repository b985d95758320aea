// How jobs start.
#include <algorithm>
#include <string>

#include "am/types/types.h"
#include "shmem/mailbox_layout.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/text.h"

namespace am::doctor {
namespace {

bool found(const LaunchersFacts& facts, std::string_view name) {
  return std::ranges::any_of(facts.programs, [name](const Program& program) {
    return program.name == name && !program.path.empty();
  });
}

}  // namespace

Finding check_launchers(const LaunchersFacts& facts) {
  std::vector<std::string> there, missing;
  for (const Program& program : facts.programs) {
    if (program.path.empty()) {
      missing.push_back(program.name);
    } else {
      there.push_back(program.path);
    }
  }
  const std::string seen = "in PATH: " + list_text(there) + "; not there: " + list_text(missing);
  if (there.empty()) {
    return {.check = "launchers",
            .severity = facts.splitcrun_beside.empty() ? Severity::kWarning : Severity::kRemark,
            .seen = seen + (facts.splitcrun_beside.empty()
                                ? ""
                                : "; beside this program: " + facts.splitcrun_beside),
            .means = facts.splitcrun_beside.empty()
                         ? "programs start as jobs of one process, or by SPLITC_RENDEZVOUS"
                         : "jobs of this machine start with that one",
            .remedy = facts.splitcrun_beside.empty()
                          ? "packaging/install --prefix=FOLDER brings splitcrun, and "
                            "FOLDER/bin belongs in PATH"
                          : "add its folder to PATH"};
  }
  if (!found(facts, "splitcrun") && facts.splitcrun_beside.empty()) {
    return {.check = "launchers",
            .seen = seen,
            .means =
                "jobs start with those that are there; only splitcrun names who waits for whom "
                "when a job stands still, and goes on without the dead",
            .remedy = "add the folder of splitcrun to PATH"};
  }
  return {.check = "launchers",
          .seen = seen + (facts.splitcrun_beside.empty()
                              ? ""
                              : "; beside this program: " + facts.splitcrun_beside),
          .means = "jobs can be started"};
}

Finding check_pmix(const LaunchersFacts& facts) {
  if (facts.pmix_refusal.empty()) {
    return {
        .check = "pmix",
        .seen = "libpmix can be loaded",
        .means = "processes started by mpirun of Open MPI, or srun --mpi=pmix, find one another"};
  }
  const bool needed = found(facts, "mpirun") || found(facts, "srun");
  return {.check = "pmix",
          .severity = needed ? Severity::kWarning : Severity::kRemark,
          .seen = "libpmix cannot be loaded (" + facts.pmix_refusal + ")",
          .means = std::string("jobs do not start under mpirun of Open MPI and srun --mpi=pmix") +
                   (needed ? ", one of which is installed" : "; none of these is installed"),
          .remedy =
              needed ? "apt install libpmix2, on every machine of the job; or srun --mpi=pmi2 -K, "
                       "mpiexec.hydra"
                     : ""};
}

Finding check_sodium(const LaunchersFacts& facts) {
  if (facts.sodium_refusal.empty()) {
    return {.check = "sodium",
            .seen = "libsodium can be loaded",
            .means = "jobs can start by SPLITC_RENDEZVOUS and talk by SPLITC_LINK=datagram"};
  }
  return {
      .check = "sodium",
      .severity = facts.sodium_needed ? Severity::kError : Severity::kRemark,
      .seen = "libsodium cannot be loaded (" + facts.sodium_refusal + ")",
      .means = facts.sodium_needed
                   ? "the settings need it (SPLITC_RENDEZVOUS or SPLITC_LINK), so the job does "
                     "not start"
                   : "only SPLITC_RENDEZVOUS and SPLITC_LINK=datagram need it",
      .remedy = facts.sodium_needed ? "apt install libsodium23, on every machine of the job" : ""};
}

Finding check_settings(const SettingsFacts& facts) {
  if (!facts.refusal.empty()) {
    return {.check = "settings",
            .severity = Severity::kError,
            .seen = facts.refusal,
            .means = "every process of a job refuses to start",
            .remedy = "splitc-info lists the variables and their values"};
  }
  std::string text;
  for (const auto& [name, value] : facts.set) {
    text += (text.empty() ? "" : ", ") + name + "=" + value;
  }
  return {.check = "settings",
          .seen = text.empty() ? "no variable of the library is set" : "set: " + text,
          .means = "they make sense together"};
}

Finding check_size(const JobShape& job) {
  if (job.processes == 0) {
    return {.check = "size",
            .seen = "nobody said how many processes a job is to have",
            .means = "what depends on that was looked at for one process",
            .remedy = "splitc-doctor -n N --nodes M"};
  }
  const std::string seen = count_text(job.processes, "process", "processes") + " on " +
                           count_text(std::max(1u, job.nodes), "node", "nodes") + ", " +
                           std::to_string(job.near) + " of them on this one";
  if (job.near > shmem::kMaxInboxes) {
    return {.check = "size",
            .severity = Severity::kWarning,
            .seen = seen,
            .means = "an endpoint takes messages of at most " + std::to_string(shmem::kMaxInboxes) +
                     " processes of its node: a request of one more is an error",
            .remedy = "at most " + std::to_string(shmem::kMaxInboxes) +
                      " processes a node; splitcrun --nodes pretends several"};
  }
  return {.check = "size", .seen = seen, .means = "within what the library can do"};
}

Findings check_start(const StartFacts& facts, const JobShape& job) {
  if (!facts.tried) return {};
  if (!facts.error.empty()) {
    return {{.check = "start",
             .severity = Severity::kError,
             .seen = facts.error,
             .means = "the job that this process is part of does not start",
             .remedy = "what the sentence says; splitc-doctor without the launcher says what else "
                       "is seen on this machine"}};
  }
  return {{.check = "start",
           .seen = "a job of " + count_text(job.processes, "process", "processes") + " on " +
                   count_text(job.nodes, "node", "nodes") + " has started, by " + facts.launcher,
           .means = job.nodes > 1 ? "launcher and network work here" : "the launcher works here"}};
}

}  // namespace am::doctor
