#pragma once

#include <vector>

#include "am/job/launcher/options.h"

namespace am::launcher {

// One processor for each rank, as --bind asks, or none for any. Throws Failure: more processes than
// cores are to have one each.
std::vector<int> choose_processors(const Options& options);

}  // namespace am::launcher
