#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "am/collective/exchange.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/job/trace/trace_file.h"
#include "am/observe/timeline.h"
#include "am/observe/trace.h"

namespace am {

// What processes say to each other about their traces, by an endpoint of its own. Its constructor
// is collective.
//
// Thread rule: one thread, that of the collective calls. Its calls wait and run handlers; others
// answer meanwhile if they are in such a call, or in a barrier.
class TraceGathering {
 public:
  // `file`: process 0's, and there only.
  TraceGathering(Process& process, Exchange& exchange, TraceFile* file);
  TraceGathering(const TraceGathering&) = delete;
  TraceGathering& operator=(const TraceGathering&) = delete;

  Bundle& bundle() noexcept { return bundle_; }

  // The clock of process 0, less this one's, by the best of many questions.
  BestAnswer ask_clock();

  // Finds out which flows of `trace`, that others ask for, end here. Before their match().
  void add_ends(Trace& trace);
  // Marks the events at which a flow begins whose end is in the trace of another process.
  void match(Trace& trace);

  // Lines for the file, at most max_medium() bytes that are not parted.
  void send(std::string_view lines);

 private:
  static constexpr std::size_t kBatch = 256;             // flows that are asked for at a time
  using Found = std::array<std::uint64_t, kBatch / 64>;  // a bit each

  // Flows that begin here, and their events.
  struct Batch {
    std::vector<TraceFlow> flows;
    std::vector<TraceEvent*> events;
  };

  void ask(Rank peer, Batch& batch);
  Found find(std::span<const TraceFlow> flows) noexcept;
  static void mark(const Batch& batch, const Found& found) noexcept;

  void on_ask_clock(Request request);
  void on_clock(Reply reply, std::int64_t ns);
  void on_ask_flows(Request request, std::span<const std::byte> flows, std::uint32_t number);
  void on_flows(Reply reply, Found found, std::uint32_t number);
  void on_lines(OneWay message, std::span<const std::byte> lines);

  TraceFile* const file_;
  Bundle bundle_;
  Endpoint endpoint_;
  bool answered_ = false;
  std::int64_t clock_ns_ = 0;
  FlowEnds ends_{0};
  std::unordered_map<std::uint32_t, Batch> asked_;  // by number
  std::uint32_t number_ = 0;
};

}  // namespace am
