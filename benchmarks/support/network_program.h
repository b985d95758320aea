#pragma once

#include <memory>

#include "benchmarks/support/program.h"
#include "benchmarks/support/raw_network.h"

namespace am {
class Job;
}  // namespace am

namespace bench {

// Puts the provider and the network into `options` that the library takes for the processes of this
// job with its settings, unless they name a provider. Collective.
void complete(RawFabric::Options& options, am::Job& job);

// libfabric between the processes of the job, completed as above, with the pair's memory at both
// ends. Of `options` the rest counts. Collective.
std::unique_ptr<RawFabric> open_fabric(am::Job& job, Pair& pair, RawFabric::Options options);

// run_program() with libfabric by hand at Bench::raw_network.
int run_network_program(int argc, char** argv, Program program);
// The same for programs that need it only if the two processes are not on one node.
int run_program_anywhere(int argc, char** argv, Program program);

}  // namespace bench
