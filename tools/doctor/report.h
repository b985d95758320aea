// What the nodes of a job have found, put together, for people and programs to read.
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

// For people: one line if nothing has to be done. Remarks are only counted, unless `all`. Ends with
// a newline.
std::string text_of(const std::vector<NodeReport>& nodes, bool all);

// One object: version, severities counted, exit_code, nodes, and all findings, worst first.
std::string json_of(const std::vector<NodeReport>& nodes);

// 0, 1 or 2: the worst severity.
int exit_code_of(const std::vector<NodeReport>& nodes);

}  // namespace am::doctor
