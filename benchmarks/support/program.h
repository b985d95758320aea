#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/messages.h"
#include "benchmarks/support/options.h"
#include "benchmarks/support/pair.h"
#include "benchmarks/support/raw.h"
#include "benchmarks/support/raw_network.h"
#include "benchmarks/support/report.h"

namespace bench {

// What a measurement has at hand.
struct Bench {
  am::Job& job;
  am::Bundle& bundle;
  am::Endpoint& endpoint;  // index r: rank r
  const Options& options;
  const Report& report;  // speaks at rank 0
  Pair& pair;
  Raw& raw;
  Messages& messages;
  RawNetwork* raw_network;  // of programs that measure the network

  // Repetitions of a measurement.
  int reps(int usual) const {
    if (options.reps != 0) return options.reps;
    return options.quick ? 2 : usual;
  }
  // Operations in one repetition.
  int count(int usual) const { return options.quick ? (usual + 19) / 20 : usual; }
};

struct Measurement {
  std::string name;
  std::string what;
  std::function<void(Bench&)> run;
  bool everyone = false;  // all processes take part; else ranks 0 and 1, and the others sleep
};

// What ranks 0 and 1 must be to one another.
enum class Where {
  kNode,      // on one node
  kAnywhere,  // it does not matter
  kNetwork,   // reachable by libfabric, wherever they are
};

struct Program {
  std::string name;
  std::string what;
  std::vector<Measurement> measurements;
  std::string route = "node";  // how the peer is reached
  Where where = Where::kNode;
  std::function<void(Bench&)> prologue = nullptr;  // before the first measurement, at ranks 0 and 1
};

// libfabric between the processes of the job, on the provider and the interface that the settings
// name, with the pair's memory at both ends. Of `options` the rest counts. Collective.
std::unique_ptr<RawFabric> open_fabric(am::Job& job, Pair& pair, RawFabric::Options options);

// main() of a benchmark: says what it can measure and where it runs, measures what was asked for
// one after the other, and says in which placement that was. Returns the exit code.
int run_program(int argc, char** argv, const Program& program);

}  // namespace bench
