// The choice among the ways a job can start, made once.
#pragma once

#include <memory>

#include "am/job/bootstrap.h"
#include "am/job/config.h"

namespace am {

// The bootstrap for what `config` says about the launcher. Throws Error when the launcher's
// control region cannot be used.
std::unique_ptr<Bootstrap> make_bootstrap(const Config& config);

}  // namespace am
