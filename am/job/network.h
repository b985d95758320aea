// How a process of a job that has several nodes gets to the network.
#pragma once

#include <string>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"
#include "am/route/router.h"

namespace am {

// Chooses, together with all other processes, a provider and a network that reaches everybody, and
// gives `router` a port there. Collective. `one_host`: all processes are on this machine.
// Throws Error: no network that all share, or none that can be used. Returns what makes it, such as
// "libfabric 1.17".
std::string join_network(Bootstrap& bootstrap, const Config& config, bool one_host, Router& router);

}  // namespace am
