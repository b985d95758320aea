// What the end of a process means for its job.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "am/job/config/control.h"
#include "tools/splitcrun/children.h"
#include "tools/splitcrun/memory_limits.h"

namespace am::launcher {

// Why the job ends now, and with which exit code.
struct Verdict {
  std::string sentence;
  int exit_code;
  bool crashed;            // by a signal that mistakes of programs cause
  bool asked_for = false;  // by a process of the job (ExitRequest); the sentence is empty
};

// Whether it has ended by its own decision, badly or before it had finished the job: perhaps
// because of the end of another.
bool left_by_itself(const Ended& end, Control& control);

// Judges the processes that have just ended; `children` knows those that still run. None: they have
// all ended well. Of several that ended badly at once, the one that was killed is named before the
// one that gave up, and that before one that left: the later kinds can follow from the earlier.
std::optional<Verdict> judge(std::span<const Ended> ended, const Children& children,
                             Control& control, const MemoryLimits& limits);

// Notes that `rank` has ended. Whether it had not finished a job that it had joined, or others
// wait, or will wait, for it in vain.
bool note_leaver(Rank rank, const Children& children, Control& control);

// Whether `end` ends the job whatever its options say: a process has asked for that, with a
// sentence or without.
bool is_asked_for(const Ended& end, const Control& control);

// "rank 2 (pid 4711) was killed by signal 9 (Killed)", with what `limits` say of that, and the exit
// code that says so.
Verdict describe_end(const Ended& end, const MemoryLimits& limits);

// "; ending the other 3 processes", "" when there are none.
std::string ending_text(std::uint32_t others);

}  // namespace am::launcher
