#include "am/observe/trace_json.h"

#include <algorithm>
#include <array>
#include <utility>

namespace am {
namespace {

// Nanoseconds as the microseconds of the format.
void append_time(std::string& to, std::int64_t ns) {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
  to += std::to_string(value / 1000) + ".";
  to.append(std::to_string(1000 + value % 1000), 1);
}

void append_id(std::string& to, TraceFlow flow) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, 16> digits;
  for (std::size_t i = digits.size(); i-- > 0; flow >>= 4) digits[i] = kDigits[flow & 15];
  to.append("\"id\":\"0x").append(digits.data(), digits.size()).append("\"");
}

// What an event is, as people filter by it.
std::string_view category(TraceKind kind) noexcept {
  switch (kind) {
    case TraceKind::kRequest:
    case TraceKind::kOneWay: return "request";
    case TraceKind::kChannelPut: return "channel";
    case TraceKind::kOperation: return "operation";
    case TraceKind::kWait: return "wait";
    case TraceKind::kCollective: return "collective";
    case TraceKind::kPoll: return "poll";
    case TraceKind::kRequestHandler:
    case TraceKind::kOneWayHandler:
    case TraceKind::kReplyHandler: return "handler";
    case TraceKind::kCallback: return "callback";
    case TraceKind::kReply:
    case TraceKind::kNothing: break;
  }
  return "";
}

// In front of a label, which says whose handler it is.
std::string_view prefix(TraceKind kind) noexcept {
  switch (kind) {
    case TraceKind::kRequest: return "request ";
    case TraceKind::kOneWay: return "one-way ";
    case TraceKind::kChannelPut: return "channel ";
    case TraceKind::kReplyHandler: return "reply ";
    default: return "";
  }
}

// Of a valid UTF-8 sequence that begins with `text`; 0: there is none.
std::size_t sequence(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xc2 && first < 0xe0 ? 2
                            : first >= 0xe0 && first < 0xf0 ? 3
                            : first >= 0xf0 && first < 0xf5 ? 4
                                                            : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  return std::ranges::all_of(text.substr(1, bytes - 1), continues) ? bytes : 0;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const char first = text[0];
    const std::size_t bytes = sequence(text);
    if (bytes == 0 || static_cast<unsigned char>(first) < 0x20) {
      all += bytes == 0 ? '?' : ' ';
      text.remove_prefix(1);
      continue;
    }
    if (first == '"' || first == '\\') all += '\\';
    all += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return all;
}

TraceText::TraceText(Rank rank, const ClockLine& clock, std::int64_t origin_ns,
                     std::vector<TraceLabel> labels)
    : ids_("\"pid\":" + std::to_string(rank) + ",\"tid\":"),
      clock_(clock),
      origin_ns_(origin_ns),
      labels_(std::move(labels)) {
  std::size_t longest = 0;
  for (const TraceLabel& one : labels_)
    longest = std::max(longest, one.name.size() + one.at.size());
  constexpr std::size_t kRest = 512;  // of an event and its arrow
  most_bytes_ = longest + kRest;
}

const TraceLabel& TraceText::label(const TraceEvent& event) const noexcept {
  static const TraceLabel kNone{"?", ""};
  return event.name < labels_.size() ? labels_[event.name] : kNone;
}

void TraceText::append_head(std::string& to, char phase, std::uint32_t thread,
                            std::int64_t ns) const {
  to.append(",\n{\"ph\":\"").append(1, phase).append("\",").append(ids_);
  to += std::to_string(thread);
  to.append(",\"ts\":");
  append_time(to, ns);
}

void TraceText::append_arguments(std::string& to, const TraceEvent& event) const {
  to.append(",\"args\":{");
  const char* separator = "";
  const auto number = [&](std::string_view name, std::uint64_t value) {
    to.append(separator).append("\"").append(name).append("\":");
    to += std::to_string(value);
    separator = ",";
  };
  if (event.peer != TraceEvent::kNoPeer) number("peer", event.peer);
  if (event.what() == TraceKind::kPoll) {
    number("handled", event.bytes);
  } else if (event.what() == TraceKind::kCollective) {
    number("barrier", event.bytes);
  } else if (event.what() != TraceKind::kWait) {
    number("bytes", event.bytes);
  }
  if (const std::string& at = label(event).at; !at.empty()) {
    to.append(separator).append("\"at\":\"").append(at).append("\"");
  }
  to.append("}}");
}

void TraceText::append_flow(std::string& to, std::uint32_t thread, const TraceEvent& event,
                            std::int64_t ns) const {
  append_head(to, begins_flow(event.what()) ? 's' : 'f', thread, ns);
  to.append(begins_flow(event.what()) ? "," : ",\"bp\":\"e\",");
  append_id(to, event.flow);
  to.append(",\"cat\":\"message\",\"name\":\"message\"}");
}

void TraceText::append(std::string& to, std::uint32_t thread, const TraceEvent& event) const {
  const std::int64_t begin = clock_.at(event.begin) - origin_ns_;
  if (event.what() == TraceKind::kReply) {
    // Inside the handler, which ends at that time.
    if (event.matched != 0) append_flow(to, thread, event, begin - 1);
    return;
  }
  const bool moment = event.what() == TraceKind::kOperation;
  append_head(to, moment ? 'i' : 'X', thread, begin);
  if (moment) {
    to.append(",\"s\":\"t\"");
  } else {
    to.append(",\"dur\":");
    append_time(to, clock_.at(event.begin + event.length) - origin_ns_ - begin);
  }
  to.append(",\"cat\":\"").append(category(event.what())).append("\",\"name\":\"");
  if (event.what() == TraceKind::kPoll) {
    to.append("poll");
  } else {
    to.append(prefix(event.what())).append(label(event).name);
  }
  to.append("\"");
  append_arguments(to, event);
  if (event.flow != 0 && event.matched != 0) append_flow(to, thread, event, begin);
}

std::string trace_begin() {
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
         "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_sort_index\","
         "\"args\":{\"sort_index\":0}}";
}

std::string trace_end(std::uint32_t processes, std::uint64_t dropped) {
  return "\n],\"otherData\":{\"processes\":" + std::to_string(processes) +
         ",\"dropped_events\":" + std::to_string(dropped) + "}}\n";
}

std::string describe(const TraceProcess& process, std::int64_t ns) {
  const std::string rank = std::to_string(process.rank);
  const auto line = [&](const std::string& rest) {
    return ",\n{\"pid\":" + rank + "," + rest + "}";
  };
  const auto meta = [&](std::uint32_t thread, const std::string& name, const std::string& value) {
    return line("\"ph\":\"M\",\"tid\":" + std::to_string(thread) + ",\"name\":\"" + name +
                "\",\"args\":{" + value + "}");
  };
  std::string text = meta(0, "process_name",
                          "\"name\":\"rank " + rank + " (node " + std::to_string(process.node) +
                              ", " + escaped(process.host) + ")\"");
  text += meta(0, "process_sort_index", "\"sort_index\":" + rank);
  for (std::uint32_t thread = 0; thread < process.threads; ++thread) {
    const std::string name = thread == 0 ? "rank " + rank : "thread " + std::to_string(thread);
    text += meta(thread, "thread_name", "\"name\":\"" + name + "\"");
  }
  if (process.dropped == 0) return text;
  std::string time;
  append_time(time, ns);
  return text + line("\"ph\":\"i\",\"s\":\"p\",\"tid\":0,\"ts\":" + time +
                     ",\"cat\":\"trace\",\"name\":\"memory full: " +
                     std::to_string(process.dropped) + " later events are missing\"");
}

}  // namespace am
