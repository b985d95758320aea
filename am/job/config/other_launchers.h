#pragma once

#include "am/job/config/config.h"

namespace am {

// Sets what launchers other than splitcrun have told this process: Config::pmix, pmi and stranger.
// Throws Error if it is nonsense.
void read_other_launchers(Config& config);

// Where both pmix and pmi are set, as one launcher has started the other, leaves that which has
// started this process.
void choose_launcher(Config& config);

}  // namespace am
