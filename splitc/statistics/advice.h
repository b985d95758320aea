#pragma once

#include <span>
#include <string>
#include <vector>

#include "splitc/statistics/summary.h"

namespace splitc::detail {

// At most three sentences: which lines cost most of the time, and what would replace them. The most
// important comes first. Pure logic.
std::vector<std::string> advise(std::span<const ProcessStatistics> processes);

}  // namespace splitc::detail
