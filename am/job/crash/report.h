// What a process of a job says when it crashes: which rank, by what, where, at which address and
// whose segment that lies in, once, on standard error. It then ends as it would have ended.
//
//   rank 2 (pid 4711) has crashed by signal 11 (Segmentation fault): address 0x7f62c0041120 is not
//   mapped; it is 288 bytes behind the end of rank 3's segment
//     #0 0x55d0a3c41b3f in _Z4stepPdi+0x2f (heat+0x2b3f)
//     ...
//     lines of the source: addr2line -Cfpie /home/me/heat 0x2b3f ...
//
// The last line is not there if splitcrun prints these lines itself.
//
// It reports SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP (by which AArch64 reports a failed check of
// the compiler) and SIGABRT in any thread, and uncaught exceptions. Handlers that are installed
// already (a sanitizer's, the program's own) stay, and those installed later replace these. A stack
// that has overflowed is reported for the thread that started the job; another thread has no second
// stack and ends without a report.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string_view>

#include "am/job/config/control.h"
#include "am/observe/activity.h"
#include "am/types/types.h"

namespace am {

// Memory of one process, as this one addresses it: [begin, end).
struct CrashSegment {
  std::uintptr_t begin;
  std::uintptr_t end;
  Rank rank;
};

// One at a time in a process; used by the thread that starts the job.
class CrashReport {
 public:
  // From here on crashes are reported as those of `rank`. Some 20 us.
  explicit CrashReport(Rank rank);
  ~CrashReport();  // restores the former handlers unless they were replaced since

  // The segments that this process has mapped. At most one call.
  void set_segments(std::span<const CrashSegment> segments);
  // Where the launcher finds out at which lines of the source that was; nullptr: it does not, and
  // the report ends with the command for that. Outlives this.
  void set_frames(CrashFrames* for_launcher);
  // What this process does, which says whose message a handler had that crashes. Outlives this.
  void set_activity(const Activity& activity);
  // The network's library, and what Link::describe() says of the network.
  void set_network(std::string_view library, std::string_view description);

 private:
  const std::terminate_handler terminate_before_;
  std::unique_ptr<CrashSegment[]> segments_;
};

}  // namespace am
