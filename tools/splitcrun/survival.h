// A job that goes on without its dead (--survive).
#pragma once

#include <optional>
#include <string>

#include "am/job/config/control.h"
#include "am/job/config/exit_request.h"
#include "tools/splitcrun/children.h"
#include "tools/splitcrun/memory_limits.h"
#include "tools/splitcrun/options.h"
#include "tools/splitcrun/verdict.h"

namespace am::launcher {

// Keeps the account of who has ended, and how, and notifies those who live of deaths.
//
// A process dies when it ends before it has finished (Job::finish(), the end of run()), by a signal
// or with any exit code, or while others have not: they may need it still. It does not, if it has
// asked for the end of the whole job; and before all processes have passed the start, no job goes
// on without one.
class Survival {
 public:
  Survival(Control& control, const MemoryLimits& limits) noexcept
      : control_(control), limits_(limits), notices_(control) {}

  // Accounts for the end of a process after which the job goes on, and returns what is to be said
  // of it; "": nothing. std::nullopt: the job does not go on.
  std::optional<std::string> take(const Ended& end, const Children& children) {
    if (is_asked_for(end, control_)) return std::nullopt;
    give_back_abort(end.rank);
    if (!notices_.has_finished(end.rank) || !notices_.nobody_needs(end.rank)) {
      if (!notices_.can_go_on()) return std::nullopt;
      return take_death(end, children);
    }
    if (note_leaver(end.rank, children, control_)) return std::nullopt;  // who begin another job
    if (end.status == 0) {
      ++ended_well_;
      return "";
    }
    const Verdict verdict = describe_end(end, limits_);
    if (failure_ == 0) failure_ = verdict.exit_code;
    crashed_ |= verdict.crashed;
    return verdict.sentence + ", after it had finished the job";
  }

  // Some process that died was killed by a signal that mistakes of programs cause.
  bool crashed() const noexcept { return crashed_; }

  // Of the whole job, once all have ended. 0: all have ended well. kExitSurvived: some have died,
  // and all others have ended well. That of the first that ended badly after it had finished, if
  // there is one. That of the first that died, if nobody was left to finish.
  int exit_code() const noexcept {
    if (failure_ != 0) return failure_;
    if (died_ == 0) return 0;
    return ended_well_ != 0 ? kExitSurvived : first_death_;
  }

 private:
  static std::string going_on_text(std::uint32_t others) {
    if (others == 0) return "";
    if (others == 1) return "; the other process goes on";
    return "; the other " + std::to_string(others) + " processes go on";
  }

  // It has not said why it wanted to end the job: others may.
  void give_back_abort(Rank rank) noexcept {
    std::uint32_t claim = rank + 1;
    if (control_.abort_claimed.compare_exchange_strong(claim, 0, std::memory_order_relaxed)) {
      futex_wake_all(control_.abort_claimed);
    }
  }

  std::string take_death(const Ended& end, const Children& children) {
    const Verdict verdict = describe_end(end, limits_);
    notices_.post(end.rank);
    // Exit code 0 says that all is well, which it is not.
    if (died_++ == 0) first_death_ = verdict.exit_code != 0 ? verdict.exit_code : 1;
    crashed_ |= verdict.crashed;
    return verdict.sentence + (verdict.exit_code == 0 ? " before it had finished the job" : "") +
           going_on_text(children.running());
  }

  Control& control_;
  const MemoryLimits& limits_;
  DeathNotices notices_;
  std::uint32_t ended_well_ = 0;
  std::uint32_t died_ = 0;
  int failure_ = 0;      // exit code of the first that failed after it had finished
  int first_death_ = 0;  // ... that died
  bool crashed_ = false;
};

}  // namespace am::launcher
