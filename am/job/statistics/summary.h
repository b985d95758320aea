// What the processes of a job have counted, and what is said of it. Pure logic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/observe/call_sites.h"
#include "am/types/link_stats.h"

namespace am::statistics {

// What CallSites::Site counts, of one process or of all.
struct CallStatistics {
  std::string call;              // "barrier"
  std::string place;             // "heat.cc:40", or "step (heat+0x2b3f)"; "": not known
  CallSites::Traffic far = {};   // with other nodes
  CallSites::Traffic near = {};  // within the node
  std::uint64_t waits = 0;
  std::uint64_t waited_ns = 0;
  std::string needs = {};  // "credit"; "": not known

  // "barrier at heat.cc:40", "read in step (heat+0x2b3f)", "barrier".
  std::string name() const;
};

struct ProcessStatistics {
  std::uint64_t elapsed_ns = 0;
  std::vector<CallStatistics> calls;
  std::vector<CallSites::Traffic> traffic;  // by process; behind the last nothing went anywhere
  SendStats sent = {};
  LossStats losses = {};

  double elapsed_s() const noexcept { return static_cast<double>(elapsed_ns) * 1e-9; }
  double waited_s() const noexcept;
};

// The `most` places of a process where it waited longest, the `most` of the others that it used
// most often, and all others as one, CallSites::kOthers, so that sums stay the same.
std::vector<CallSites::Site> worth_telling(std::vector<CallSites::Site> all, std::size_t most);

// One process's for another, as bytes (CBOR), and back: nothing of bytes that are none. Nothing
// crashes.
std::string pack(const ProcessStatistics& process);
ProcessStatistics unpack(std::string_view text);

// Calls of the same name and place are one, with all their numbers added; the costliest come first.
std::vector<CallStatistics> all_calls(std::span<const ProcessStatistics> processes);

// The report on all processes, by rank: lines for people.
std::string summarize(std::span<const ProcessStatistics> processes, std::uint32_t nodes);

// At most three sentences: which lines cost most of the time, and what would replace them. The most
// important comes first. Pure logic.
std::vector<std::string> advise(std::span<const ProcessStatistics> processes);

// The report on all processes, by rank, for programs to read: one line of JSON; docs/observing.md
// names its members.
std::string to_json(std::span<const ProcessStatistics> processes, std::uint32_t nodes);

}  // namespace am::statistics
