#pragma once

#include <string>
#include <vector>

#include "tools/splitcrun/options.h"
#include "tools/splitcrun/topology.h"

namespace am::launcher {

// The processors that each rank may run on, as --bind and --threads ask, or none for any. Throws
// Failure: there are fewer cores than are to be given away, or nothing is known of such domains.
std::vector<Processors> choose_processors(const Options& options);

// "processor 3" or "processors 0-3,8".
std::string describe(const Processors& processors);

}  // namespace am::launcher
