#include "benchmarks/support/program.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "am/am.h"
#include "benchmarks/support/placement.h"
#include "splitc/splitc.h"

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

int measure(const Program& program, const Options& options, splitc::World& world) {
  am::Job& job = world.job();
  am::Bundle& bundle = world.bundle();
  am::Endpoint& endpoint = world.endpoint();
  const bool paired = job.rank() < 2;
  const Report report(options.csv, job.rank() == 0, program.route);
  Placement placement(job);
  Messages::add_handlers(endpoint);
  // Element i is on process i mod size: this many bytes in each segment.
  const auto scratch = splitc::all_spread_malloc<std::byte>(Pair::kScratchBytes * job.size());
  Pair pair(job, bundle, scratch.offset());
  Raw raw(pair);
  Messages messages(pair, endpoint);
  report.say(program.name + ": " + program.what + ". It can measure:");
  report.say(list_of(entries_of(program)) + std::to_string(job.size()) + " processes, " +
             placement.binding());
  job.barrier(bundle);  // to prepare may take steps without progress, which others would wait for
  Bench bench{job, bundle, endpoint, options, report, pair, raw, messages};
  const std::shared_ptr<void> prepared = program.prepare ? program.prepare(bench) : nullptr;
  if (paired) placement.before(pair);
  report.begin();
  for (const Measurement& measurement : program.measurements) {
    if (!chosen(options, measurement.name)) continue;
    if (paired || measurement.everyone) measurement.run(bench);
    job.barrier(bundle);
  }
  if (paired) placement.after(pair);
  report.say(placement.regime(pair));
  if (options.csv && pair.near()) {
    add_probe(report, "line_round_trip_before", placement.round_trip_before_ns());
    add_probe(report, "line_round_trip_after", placement.round_trip_after_ns());
  }
  return 0;
}

}  // namespace

int run_program(int argc, char** argv, const Program& program) {
  return splitc::run(argc, argv, [&](splitc::Args) {
    am::Job& job = splitc::world().job();
    int exit_code = 0;
    const auto options = parse_options(argc, argv, {program.name, program.what},
                                       entries_of(program), job.rank() == 0, exit_code);
    if (!options) return exit_code;
    if (job.size() < 2) {
      std::fprintf(stderr,
                   "%s: measures between two processes and this is a job of one; start it with "
                   "splitcrun -n 2 %s\n",
                   program.name.c_str(), argv[0]);
      return 2;
    }
    am::Router& router = job.router();
    const bool apart = (router.peer(0).segment == nullptr) != (router.peer(1).segment == nullptr);
    if (!program.anywhere && apart) {
      std::fprintf(stderr,
                   "%s: measures between two processes of one node, and ranks 0 and 1 are on "
                   "different ones; the benchmark network measures those\n",
                   program.name.c_str());
      return 2;
    }
    return measure(program, *options, splitc::world());
  });
}

}  // namespace bench
