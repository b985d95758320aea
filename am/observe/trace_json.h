#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "am/observe/event.h"
#include "am/observe/timeline.h"
#include "am/types/types.h"

// Events as text of the trace event format, which Perfetto and Chrome's viewer read: an object a
// line. Processes of the format are the ranks, its threads those of each. Pure logic.

namespace am {

// `text` as it is written in a string of JSON, without what is not UTF-8.
std::string escaped(std::string_view text);

// What a trace file says of one process.
struct TraceProcess {
  Rank rank = 0;
  std::uint32_t node = 0;
  std::string host;
  std::uint32_t threads = 0;
  std::uint64_t dropped = 0;
};

// What an event is called, escaped.
struct TraceLabel {
  std::string name;  // "barrier", "on_ping"
  std::string at;    // "heat.cc:40", "step (heat+0x2b3f)"; "": not known
};

// Writes lines that each begin with a comma and a line break: they go behind trace_begin().
class TraceText {
 public:
  // `labels` by TraceName. Times are counted from `origin_ns` of the job's clock.
  TraceText(Rank rank, const ClockLine& clock, std::int64_t origin_ns,
            std::vector<TraceLabel> labels);

  // Appends an event, and the arrow that begins or ends there, if both ends of that are known.
  void append(std::string& to, std::uint32_t thread, const TraceEvent& event) const;
  // The most that it appends.
  std::size_t most_bytes() const noexcept { return most_bytes_; }

 private:
  const TraceLabel& label(const TraceEvent& event) const noexcept;
  void append_head(std::string& to, char phase, std::uint32_t thread, std::int64_t ns) const;
  void append_arguments(std::string& to, const TraceEvent& event) const;
  void append_flow(std::string& to, std::uint32_t thread, const TraceEvent& event,
                   std::int64_t ns) const;

  const std::string ids_;  // "\"pid\":3,\"tid\":"
  const ClockLine clock_;
  const std::int64_t origin_ns_;
  const std::vector<TraceLabel> labels_;
  std::size_t most_bytes_;
};

// How the file begins, and how it ends.
std::string trace_begin();
std::string trace_end(std::uint32_t processes, std::uint64_t dropped);
// The names of the process and its threads, and what is missing from `ns` on; lines as TraceText's.
std::string describe(const TraceProcess& process, std::int64_t ns);

}  // namespace am
