#pragma once

#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/am/link/forwarder/path.h"
#include "tests/am/link/forwarder/weather.h"

namespace am::link::test {

// What became of a job on two hosts.
struct Outcome {
  bool good() const;         // every process has left with 0
  std::string text() const;  // what happened on the path, and what each process has said

  std::vector<am::test::Program::Result> processes;  // by rank
  Path::Stats path;
};

// Runs `program` as a job of 2 * `each` processes: the lower ranks on one host, the others on
// another, and between the two nothing but a Forwarder. `settings` are variables for all of them,
// NAME=VALUE; the way to other nodes is `datagram` (over UDP) unless they or SPLITC_LINK of this
// process say otherwise. Whoever has not ended after 90 seconds is killed. Throws NoHosts.
Outcome run_on_two_hosts(const Weather& weather, const std::vector<std::string>& program,
                         const std::vector<std::string>& settings = {}, unsigned each = 2);

}  // namespace am::link::test
