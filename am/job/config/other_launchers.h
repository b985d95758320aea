#pragma once

#include "am/job/config/config.h"

namespace am {

// Sets what launchers other than splitcrun have told this process: Config::pmix, pmi and stranger.
// Throws Error if it is nonsense.
void read_other_launchers(Config& config);

}  // namespace am
