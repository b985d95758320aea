// Where a thread is, as text: one line for each function that it is in.
#pragma once

#include <cstdint>
#include <string_view>

#include "am/job/config/crash_frames.h"
#include "am/job/crash/text.h"
#include "am/types/types.h"

namespace am {

// Does what cannot be done in a signal handler. Call it once, before the others.
void prepare_crash_trace();

// How the network's library is named if it crashes, such as "libfabric 1.17's net on lo".
void name_network(std::string_view network) noexcept;

// The stack pointer of what a signal interrupted (`context` as below); 0: not known here.
std::uintptr_t interrupted_stack(const void* context) noexcept;

// Adds the calling thread's backtrace, beginning with the instruction that a signal interrupted
// (`context`, the third argument of its handler) or, without one, with the caller. Functions are
// named as the linker names them, if the program has symbols. `for_launcher`, if there is any and
// no process has crashed before, gets what source lines follow from; else a line with the command
// follows that prints them. Safe in a signal handler, but for a lock of the dynamic linker: a
// thread that crashes while it loads a library, as another does, may wait for it.
void add_crash_trace(CrashText& text, const void* context, CrashFrames* for_launcher,
                     Rank rank) noexcept;

}  // namespace am
