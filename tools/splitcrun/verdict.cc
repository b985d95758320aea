#include "tools/splitcrun/verdict.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "am/types/thread.h"

namespace am::launcher {
namespace {

enum class Severity { kNone, kLeftEarly, kGaveUp, kAborted, kAskedFor, kKilled };

// Whether this process ended the job with a sentence.
bool aborted(const Control& control, Rank rank) {
  // pairs with: BootstrapLaunch::report_abort
  return control.abort_ready.load(std::memory_order_acquire) != 0 && control.abort_rank == rank;
}

// An abort signal is often the uncaught error of a process that lost another one.
bool was_killed(const Ended& end) {
  return WIFSIGNALED(end.status) && WTERMSIG(end.status) != SIGABRT;
}

// Whether it has ended by its own decision, and badly.
bool gave_up(const Ended& end) { return end.status != 0 && !was_killed(end); }

Severity severity_of(const Ended& end, const Children& children, Control& control) {
  if (was_killed(end)) return Severity::kKilled;
  // Whatever else a process says at its end follows from others having gone.
  if (control.exit_request.asked()) return Severity::kAskedFor;
  if (aborted(control, end.rank)) return Severity::kAborted;
  if (gave_up(end)) return Severity::kGaveUp;
  return note_leaver(end.rank, children, control) ? Severity::kLeftEarly : Severity::kNone;
}

bool is_crash(int signal) { return std::ranges::find(kFaults, signal) != kFaults.end(); }

std::string name_of(const Ended& end) {
  return "rank " + std::to_string(end.rank) + " (pid " + std::to_string(end.pid) + ") ";
}

Verdict verdict_on(const Ended& end, Severity severity, bool others_need_it, const Control& control,
                   const MemoryLimits& limits) {
  if (severity == Severity::kAskedFor) return {"", control.exit_request.code(), false, true};
  if (WIFSIGNALED(end.status)) return describe_end(end, limits);
  if (severity == Severity::kLeftEarly) {
    return {name_of(end) +
                "left with exit code 0 before it had finished the job (the end of run() or "
                "Job::finish())" +
                (others_need_it ? ", while others need it" : ""),
            1, false};
  }
  if (severity == Severity::kAborted) {
    return {name_of(end) + "ended the job: " + control.abort_text, WEXITSTATUS(end.status), false};
  }
  return describe_end(end, limits);
}

}  // namespace

bool left_by_itself(const Ended& end, Control& control) {
  if (end.status != 0) return gave_up(end);
  return control_rank(control, end.rank).state.load(std::memory_order_relaxed) ==
         RankState::kJoined;
}

bool note_leaver(Rank rank, const Children& children, Control& control) {
  ControlRank& me = control_rank(control, rank);
  // Either a process that joins now sees kLeft, or the loop below sees that it has joined.
  // pairs with: BootstrapLaunch::join
  const RankState before = me.state.exchange(RankState::kLeft, std::memory_order_seq_cst);
  // What it had still to do is not done, also if all leave like that and nobody waits for it.
  if (before == RankState::kJoined) return true;
  // Its last job is over, or it has never taken part in one: who is in a later one waits for it.
  const std::uint32_t finished = me.finished.load(std::memory_order_relaxed);
  for (Rank other = 0; other < control.size; ++other) {
    if (!children.is_running(other)) continue;
    if (is_in_job_after(finished, control_rank(control, other))) return true;
  }
  return false;
}

bool is_asked_for(const Ended& end, const Control& control) {
  return control.exit_request.asked() || aborted(control, end.rank);
}

Verdict describe_end(const Ended& end, const MemoryLimits& limits) {
  if (WIFSIGNALED(end.status)) {
    const int signal = WTERMSIG(end.status);
    const std::string kills = signal == SIGKILL ? limits.describe_kills() : "";
    return {name_of(end) + "was killed by signal " + std::to_string(signal) + " (" +
                strsignal(signal) + ")" + (kills.empty() ? "" : ": ") + kills,
            128 + signal, is_crash(signal)};
  }
  const int code = WEXITSTATUS(end.status);
  return {name_of(end) + "exited with code " + std::to_string(code), code, false};
}

std::optional<Verdict> judge(std::span<const Ended> ended, const Children& children,
                             Control& control, const MemoryLimits& limits) {
  Severity worst = Severity::kNone;
  const Ended* culprit = nullptr;
  for (const Ended& end : ended) {
    const Severity severity = severity_of(end, children, control);
    if (severity <= worst) continue;
    worst = severity;
    culprit = &end;
  }
  if (culprit == nullptr) return std::nullopt;
  return verdict_on(*culprit, worst, children.running() > 0, control, limits);
}

std::string ending_text(std::uint32_t others) {
  if (others == 0) return "";
  if (others == 1) return "; ending the other process";
  return "; ending the other " + std::to_string(others) + " processes";
}

}  // namespace am::launcher
