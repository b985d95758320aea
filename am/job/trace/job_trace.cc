#include "am/job/trace/job_trace.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <new>

#include "am/core/bundle.h"
#include "am/job/config/lost_output.h"
#include "am/job/stall/code.h"
#include "am/job/trace/gathering.h"
#include "am/observe/trace_json.h"
#include "am/route/router.h"
#include "shmem/node.h"

namespace am {
namespace {

TraceLabel label_of(const TraceSource& source) {
  if (source.function != nullptr) {
    const auto address = reinterpret_cast<std::uintptr_t>(source.function);
    const std::string name = describe_handler(getpid(), address);
    return {name.empty() ? "a handler" : escaped(name), ""};
  }
  return {escaped(source.call.name), escaped(describe_place(source.call.where))};
}

std::vector<TraceLabel> labels_of(const Trace& trace) {
  std::vector<TraceLabel> all;
  for (const TraceSource& source : trace.sources()) all.push_back(label_of(source));
  return all;
}

}  // namespace

JobTrace::JobTrace(const Config& config, Rank me)
    : me_(me), path_(config.trace), bytes_(config.trace_bytes) {
  if (me == 0) file_ = std::make_unique<TraceFile>(path_, me);
}

JobTrace::~JobTrace() = default;

bool JobTrace::several_machines() const noexcept {
  return std::ranges::any_of(lowest_, [](Rank lowest) { return lowest != 0; });
}

ClockLine::Offset JobTrace::compare_clocks(TraceGathering& gathering) const {
  return lowest_[me_] == me_ && me_ != 0 ? gathering.ask_clock().offset() : ClockLine::Offset{};
}

void JobTrace::begin(Process& process, Exchange& exchange, const Quiesce& quiesce) {
  const auto boots = exchange.exchange(shmem::this_node().boot);
  std::map<decltype(shmem::NodeId::boot), Rank> machines;
  for (Rank rank = 0; rank < boots.size(); ++rank) {
    lowest_.push_back(machines.try_emplace(boots[rank], rank).first->second);
  }
  if (several_machines()) {
    TraceGathering gathering(process, exchange, nullptr);
    clock_.before = clock_.after = compare_clocks(gathering);
    quiesce(gathering.bundle());
  }
  try {
    trace_ = std::make_unique<Trace>(bytes_);
  } catch (const std::bad_alloc&) {
    throw Error("rank " + std::to_string(me_) + ": Job: no memory for a trace of " +
                std::to_string(bytes_) + " bytes; set SPLITC_TRACE_MEMORY lower");
  }
  clock_.first = read_clocks();
}

void JobTrace::finish(Process& process, Exchange& exchange, const Quiesce& quiesce) {
  trace_->stop();
  clock_.last = read_clocks();
  if (file_) file_->append(trace_begin());  // before others send lines
  TraceGathering gathering(process, exchange, file_.get());
  if (several_machines()) {
    clock_.after = compare_clocks(gathering);
    quiesce(gathering.bundle());
  }
  Part mine{.clock = clock_, .dropped = trace_->dropped()};
  trace_->for_each([&](std::uint32_t, const TraceEvent&) { ++mine.events; });
  gathering.add_ends(*trace_);
  const std::vector<Part> parts = exchange.exchange(mine);  // all have their ends
  gathering.match(*trace_);
  quiesce(gathering.bundle());
  send_text(gathering, process.router(), parts);
  quiesce(gathering.bundle());
  if (file_) close(parts);
}

std::int64_t JobTrace::origin(const std::vector<Part>& parts) const noexcept {
  auto first = std::numeric_limits<std::int64_t>::max();
  for (Rank rank = 0; rank < parts.size(); ++rank) {
    const ClockLine& clock = parts[lowest_[rank]].clock;
    first = std::min(first, clock.at(parts[rank].clock.first.ticks));
  }
  return first;
}

// Whole lines, as others' come in between.
void JobTrace::send_text(TraceGathering& gathering, const Router& router,
                         const std::vector<Part>& parts) {
  const ClockLine& clock = parts[lowest_[me_]].clock;
  const std::int64_t begin_ns = origin(parts);
  const TraceText text(me_, clock, begin_ns, labels_of(*trace_));
  std::string lines;
  lines.reserve(max_medium());
  const auto flush_unless_room = [&](std::size_t bytes) {
    if (lines.size() + bytes <= max_medium()) return;
    gathering.send(lines);
    lines.clear();
  };
  std::uint64_t last = 0;
  trace_->for_each([&](std::uint32_t thread, const TraceEvent& event) {
    flush_unless_room(text.most_bytes());
    text.append(lines, thread, event);
    last = std::max(last, event.begin);
  });
  const std::string who = describe({.rank = me_,
                                    .node = router.options().node,
                                    .host = shmem::host_name(),
                                    .threads = std::min(trace_->threads(), 8u),
                                    .dropped = trace_->dropped()},
                                   clock.at(last) - begin_ns);
  flush_unless_room(who.size());
  lines += who;
  gathering.send(lines);
}

void JobTrace::close(const std::vector<Part>& parts) {
  std::uint64_t events = 0, dropped = 0;
  std::string who;
  for (Rank rank = 0; rank < parts.size(); ++rank) {
    events += parts[rank].events;
    dropped += parts[rank].dropped;
    if (parts[rank].dropped != 0 && who.empty()) who = std::to_string(rank);
  }
  file_->append(trace_end(static_cast<std::uint32_t>(parts.size()), dropped));
  if (const std::string error = file_->close(); !error.empty()) {
    return note_lost_output("rank " + std::to_string(me_) + ": SPLITC_TRACE=" + path_ +
                            ": the trace is not complete (" + error + "); make room");
  }
  std::fprintf(stderr, "trace: %llu events of %zu %s are in %s, for https://ui.perfetto.dev\n",
               static_cast<unsigned long long>(events), parts.size(),
               parts.size() == 1 ? "process" : "processes", path_.c_str());
  if (dropped == 0) return;
  std::fprintf(stderr,
               "trace: %llu later events are missing, of rank %s%s, as the %llu KiB for them were "
               "full; set SPLITC_TRACE_MEMORY higher\n",
               static_cast<unsigned long long>(dropped), who.c_str(),
               parts.size() == 1 ? "" : " and perhaps others",
               static_cast<unsigned long long>(bytes_ >> 10));
}

}  // namespace am
