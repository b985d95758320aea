// Why a signal came, in words.
#pragma once

#include <signal.h>

#include <span>

#include "am/job/crash/report.h"
#include "am/job/crash/text.h"

namespace am {

// Adds " has crashed by signal 11 (Segmentation fault): ..." with the address and the segment that
// it lies in, or near to, if the signal is about an address. `stack` is the stack pointer of the
// thread, or 0. Safe in a signal handler.
void add_crash_cause(CrashText& text, const siginfo_t& info, std::uintptr_t stack,
                     std::span<const CrashSegment> segments) noexcept;

}  // namespace am
