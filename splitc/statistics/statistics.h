// statistics/ tells at the end of a program what it did with other nodes and where it waited, if
// that is asked for (SPLITC_STATS, splitcrun --stats; docs/statistics.md). It may use world/ and
// rpc/. What counts is am/statistics; accesses within a node are loads and stores, which nobody
// counts unless they are watched (SPLITC_WATCH_NEAR).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "am/statistics/call_sites.h"
#include "am/types/link_stats.h"
#include "splitc/world/place.h"

namespace splitc::detail {

struct ProcessStatistics;

// One in a running program. The world's thread.
class Statistics {
 public:
  // Counts from now on, if the job's settings say so, which are those of all its processes.
  Statistics();

  // Collective, when the program has ended: process 0 prints the report on standard error, in one
  // piece. Nothing, if nothing was asked for. In a job that goes on without its dead the first that
  // lives says instead that there is none, if somebody has died.
  void report(Call call);

 private:
  static void report(const ProcessStatistics& mine, Call call);
  ProcessStatistics describe() const;

  std::optional<am::CallSites> sites_;
  std::int64_t begin_ns_ = 0;
  am::SendStats begin_sent_;
  am::LossStats begin_losses_;
};

}  // namespace splitc::detail
