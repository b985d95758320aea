// A job that goes on without its dead (--survive).
#pragma once

#include <optional>
#include <string>

#include "am/job/config/control.h"
#include "tools/splitcrun/children.h"
#include "tools/splitcrun/memory_limits.h"

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
  std::optional<std::string> take(const Ended& end, const Children& children);
  // Some process that died was killed by a signal that mistakes of programs cause.
  bool crashed() const noexcept { return crashed_; }

  // Of the whole job, once all have ended. 0: all have ended well. kExitSurvived: some have died,
  // and all others have ended well. That of the first that ended badly after it had finished, if
  // there is one. That of the first that died, if nobody was left to finish.
  int exit_code() const noexcept;

 private:
  void give_back_abort(Rank rank) noexcept;
  std::string take_death(const Ended& end, const Children& children);

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
