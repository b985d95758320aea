// What people and programs read.
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/nodes.h"

namespace am::doctor {

// For people: one line if nothing has to be done. Remarks are only counted, unless `all`. Ends with
// a newline.
std::string text_of(const std::vector<NodeReport>& nodes, bool all);

// One object: version, severities counted, exit_code, nodes, and all findings, worst first.
std::string json_of(const std::vector<NodeReport>& nodes);

// 0, 1 or 2: the worst severity.
int exit_code_of(const std::vector<NodeReport>& nodes);

}  // namespace am::doctor
