// The choice among the ways a job can start, made once.
#pragma once

#include <memory>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"

namespace am {

// The bootstrap for what `config` says about the launcher, in a process whose descriptors are in
// order (am/job/descriptors.h): this call comes before all others that open any. Throws
// Error when the launcher's control region cannot be used, or the standard streams cannot be
// opened.
std::unique_ptr<Bootstrap> make_bootstrap(const Config& config);

}  // namespace am
