#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "examples/sample_sort/text.h"

namespace sample_sort {

// Sends bytes cuts[d] to cuts[d + 1] of `text` to each process d, and returns what each one sent
// here. Goes in rounds, as much at a time as the segment has room for: any text fits. Collective.
std::vector<Text> redistribute(std::span<const char> text, std::span<const std::uint64_t> cuts);

// All lines of `runs`, each of which is in order, in order.
Text merge_runs(std::span<const Text> runs);

}  // namespace sample_sort
