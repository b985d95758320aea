// What the nodes of a job have found, put together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/doctor/checks/finding.h"

namespace am::doctor {

struct NodeReport {
  std::string host = {};
  std::string ranks = {};  // "0-3"; "": it is not known, or there is no job
  Findings findings = {};
};

// A finding, and on which of the nodes it was made.
struct Shared {
  Finding finding;
  std::vector<std::uint32_t> nodes;  // ascending
};

// Findings that are the same on several nodes once, with what was measured on the first of them;
// worst first.
std::vector<Shared> merge(const std::vector<NodeReport>& nodes);

// A report as bytes for another process, and back; of bytes that are no report, one whose only
// finding is that.
std::string to_bytes(const NodeReport& report);
NodeReport from_bytes(std::string_view bytes);

}  // namespace am::doctor
