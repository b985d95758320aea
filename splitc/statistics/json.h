// What the processes of a job have counted, for programs to read. Pure logic.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "splitc/statistics/summary.h"

namespace splitc::detail {

// The report on all processes, by rank, as one line of JSON; docs/statistics.md names its members.
std::string to_json(std::span<const ProcessStatistics> processes, std::uint32_t nodes);

}  // namespace splitc::detail
