#include "benchmarks/support/program.h"

#include <algorithm>
#include <cstdio>

#include "benchmarks/support/placement.h"

namespace bench {
namespace {

std::vector<Entry> entries_of(const Program& program) {
  std::vector<Entry> entries;
  for (const Measurement& measurement : program.measurements) {
    entries.push_back({measurement.name, measurement.what});
  }
  return entries;
}

bool chosen(const Options& options, const std::string& name) {
  const auto& only = options.only;
  return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
}

void add_probe(const Report& report, const char* name, double ns) {
  report.add({.name = name, .bytes = 8, .value = ns, .median = ns, .route = "raw"});
}

int measure(const Program& program, const Options& options, am::Job& job, am::Bundle& bundle,
            am::Endpoint& endpoint) {
  const bool paired = job.rank() < 2;
  const Report report(options.csv, job.rank() == 0);
  Placement placement(job);
  report.say(program.name + ": " + program.what + ". It can measure:");
  report.say(list_of(entries_of(program)) + std::to_string(job.size()) + " processes, " +
             placement.binding());
  report.begin();
  Pair pair(job, bundle, 0);
  Raw raw(pair);
  Messages messages(pair, bundle, endpoint);
  Bench bench{job, bundle, endpoint, options, report, pair, raw, messages};
  if (paired) placement.before(pair);
  for (const Measurement& measurement : program.measurements) {
    if (!chosen(options, measurement.name)) continue;
    if (paired || measurement.everyone) measurement.run(bench);
    job.barrier(bundle);
  }
  if (paired) placement.after(pair);
  report.say(placement.regime(pair));
  if (options.csv) {
    add_probe(report, "line_round_trip_before", placement.round_trip_before_ns());
    add_probe(report, "line_round_trip_after", placement.round_trip_after_ns());
  }
  return 0;
}

}  // namespace

int run_program(int argc, char** argv, const Program& program) {
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  Messages::add_handlers(endpoint);
  job.connect(endpoint);
  int exit_code = 0;
  const auto options = parse_options(argc, argv, {program.name, program.what},
                                     entries_of(program), job.rank() == 0, exit_code);
  if (options && job.size() < 2) {
    std::fprintf(stderr, "%s: measures between two processes and this is a job of one; start it "
                         "with splitcrun -n 2 %s\n",
                 program.name.c_str(), program.name.c_str());
    exit_code = 2;
  } else if (options) {
    exit_code = measure(program, *options, job, bundle, endpoint);
  }
  job.finish(bundle);
  return exit_code;
}

}  // namespace bench
