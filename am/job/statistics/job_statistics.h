// am/job/statistics reports at the end of a job what its processes did with other nodes and where
// they waited, if that is requested (SPLITC_STATS, splitcrun --stats; docs/observing.md).
// CallSites (am/observe) counts; accesses within a node are loads and stores, which are not counted
// unless they are watched (SPLITC_WATCH_NEAR).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "am/collective/exchange.h"
#include "am/core/bundle.h"
#include "am/core/process.h"
#include "am/job/config/config.h"
#include "am/job/statistics/summary.h"
#include "am/observe/call_sites.h"
#include "am/types/link_stats.h"

namespace am {

// The statistics of a job, which counts from their making on.
//
// Thread rule: that of the job's collective calls.
class JobStatistics {
 public:
  // quiesce() of the job, for a bundle of the calling thread.
  using Quiesce = std::function<void(Bundle&)>;

  // `process` outlives it.
  JobStatistics(Process& process, StatisticsForm form);

  // Counts anew from here: what was counted before is forgotten.
  void restart();
  // Counts no more.
  void stop();
  // Collective, when it has stopped and no message is in flight: process 0 prints the report on
  // standard error, in one piece. Throws PeerDied in a job that goes on without its dead.
  void report(Exchange& exchange, const Quiesce& quiesce) const;
  // In a job that goes on without its dead, one of which has died: the first that lives says that
  // there is no report.
  void say_none() const;

 private:
  statistics::ProcessStatistics describe() const;

  Process& process_;
  const StatisticsForm form_;
  std::optional<CallSites> sites_;      // while it counts
  statistics::ProcessStatistics mine_;  // when it has stopped
  std::int64_t begin_ns_ = 0;
  SendStats begin_sent_;
  LossStats begin_losses_;
};

}  // namespace am
