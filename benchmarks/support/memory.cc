#include "benchmarks/support/memory.h"

#include <fstream>
#include <sstream>
#include <string>

namespace bench {
namespace {

// The number behind `name` at the start of a line of `file`, or 0.
std::uint64_t value_of(const char* file, const std::string& name) {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()));
  }
  return 0;
}

}  // namespace

Memory measure_memory(std::uint32_t rank) {
  constexpr const char* kStatus = "/proc/self/status";
  Memory memory{};
  // First: reading the rest needs memory, too.
  memory.peak = value_of(kStatus, "VmHWM:");
  memory.resident = value_of(kStatus, "VmRSS:");
  memory.private_pages = value_of(kStatus, "RssAnon:");
  memory.files = value_of(kStatus, "RssFile:");
  memory.share = value_of("/proc/self/smaps_rollup", "Pss:");
  const std::string any_segment = "/memfd:the segment of rank ";
  const std::string own_segment = any_segment + std::to_string(rank) + " ";
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  std::uint64_t* part = nullptr;
  while (std::getline(maps, line)) {
    const bool begins_mapping = line.find('-') < line.find(' ') && line.find(':') > 16;
    if (begins_mapping) {
      const bool own = line.find(own_segment) != std::string::npos;
      const bool any = line.find(any_segment) != std::string::npos;
      const bool shared = line.find("/memfd:") != std::string::npos;
      part = own      ? &memory.own_segment
             : any    ? &memory.other_segments
             : shared ? &memory.other_shared
                      : nullptr;
    } else if (part != nullptr && line.starts_with("Rss:")) {
      *part += std::stoull(line.substr(4));
    }
  }
  return memory;
}

}  // namespace bench
