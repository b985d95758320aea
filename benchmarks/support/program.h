#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/support/messages.h"
#include "benchmarks/support/options.h"
#include "benchmarks/support/pair.h"
#include "benchmarks/support/raw.h"
#include "benchmarks/support/report.h"

namespace am {
class Bundle;
class Endpoint;
class Job;
}  // namespace am

namespace bench {

class RawNetwork;

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
  RawNetwork* raw_network = nullptr;  // of programs that measure the network, at ranks 0 and 1

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

struct Program {
  std::string name;
  std::string what;
  std::vector<Measurement> measurements;
  std::string route = "node";  // how the peer is reached
  bool anywhere = false;       // ranks 0 and 1 need not be on one node
  // Collective, before the first measurement; what it returns is kept till the end.
  std::function<std::shared_ptr<void>(Bench&)> prepare = nullptr;
};

// main() of a benchmark: says what it can measure and where it runs, measures what was asked for
// one after the other, and says in which placement that was. Returns the exit code.
int run_program(int argc, char** argv, const Program& program);

}  // namespace bench
