#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "am/collective/exchange.h"
#include "am/core/process.h"
#include "am/job/config/config.h"
#include "am/observe/timeline.h"
#include "am/observe/trace.h"

namespace am {

class TraceFile;
class TraceGathering;

// The trace of a job (SPLITC_TRACE, docs/observing.md), of which every process records its part,
// and process 0 writes all at the end.
//
// Each process turns its events into lines and sends these, so none holds more than its own part.
// Which arrows have both ends is determined before: processes with the beginnings ask those with
// the ends. Machines that differ compare their clocks with that of process 0 at the start and at
// the end.
//
// Thread rule: that of the job's collective calls.
class JobTrace {
 public:
  // quiesce() of the job, for a bundle of the calling thread.
  using Quiesce = std::function<void(Bundle&)>;

  // Throws Error: the file cannot be written.
  JobTrace(const Config& config, Rank me);
  ~JobTrace();

  // Collective, before there are endpoints: records from now on.
  void begin(Process& process, Exchange& exchange, const Quiesce& quiesce);
  // Collective, when no message is in flight: records no more, and writes the file. What is missing
  // is said on standard error.
  void finish(Process& process, Exchange& exchange, const Quiesce& quiesce);

 private:
  // What each process sends to all others.
  struct Part {
    ClockLine clock;  // of its machine, if it is the lowest there
    std::uint64_t events = 0;
    std::uint64_t dropped = 0;
  };

  bool several_machines() const noexcept;
  // The offset of this process's clock, if it has to ask for it; else the clocks are the same.
  ClockLine::Offset compare_clocks(TraceGathering& gathering) const;
  std::int64_t origin(const std::vector<Part>& parts) const noexcept;
  void send_text(TraceGathering& gathering, const Router& router, const std::vector<Part>& parts);
  void close(const std::vector<Part>& parts);

  // Constant after construction.
  const Rank me_;
  const std::string path_;
  const std::uint64_t bytes_;
  std::unique_ptr<TraceFile> file_;  // process 0's
  // From begin() on.
  std::vector<Rank> lowest_;  // on the machine of each rank
  ClockLine clock_;
  std::unique_ptr<Trace> trace_;
};

}  // namespace am
