// What collective calls cost all processes together. benchmarks/collectives.sh puts MPI beside it:
//   splitcrun -n 8 [--nodes 8] collectives

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/options.h"
#include "benchmarks/support/report.h"
#include "benchmarks/support/samples.h"
#include "splitc/splitc.h"

namespace {

constexpr std::size_t kLarge = 64 * 1024;  // bytes

const std::vector<bench::Entry> kEntries{
    {"calls", "all of them, of 8 bytes to 1 MiB, with a root that stays and one that changes"},
    {"early", "one broadcast at its root, and one reduction at a process that only gives to it"},
    {"overlap", "all_reduce of 64 KiB, and the same with as long a computation meanwhile"},
    {"team", "the same of a team of all processes"},
    {"store_sync", "all_store_sync() with nothing stored, and after a store of 8 bytes"},
};

struct Program {
  bench::Options options;
  const bench::Report& report;

  bool chosen(const std::string& name) const {
    return options.only.empty() || std::ranges::find(options.only, name) != options.only.end();
  }
  int repetitions() const { return options.reps != 0 ? options.reps : options.quick ? 2 : 30; }
  // Reports `call(i)`, made `count` times a repetition; returns the least, in ns.
  double time(const std::string& name, std::size_t bytes, int count,
              const std::function<void(std::uint32_t)>& call) const {
    bench::Samples samples;
    // From the first process's first call until all have ended their last, which the barrier says:
    // on few cores processes run one after the other, and each may be fast in its own turn.
    for (int rep = repetitions(); rep > 0; --rep) {
      splitc::barrier();
      const bench::Stopwatch watch;
      for (int i = 0; i < count; ++i) call(static_cast<std::uint32_t>(i));
      splitc::barrier();
      samples.add(splitc::all_reduce(watch.ns(), splitc::maximum()) / count);
    }
    report.add_time(name, bytes, samples);
    return splitc::all_bcast(samples.minimum());
  }
  // One call, at one process, when the others have begun it.
  void time_at(std::uint32_t proc, const std::string& name, std::size_t bytes,
               const std::function<void()>& call) const {
    bench::Samples samples;
    for (int rep = 10 * repetitions(); rep > 0; --rep) {
      splitc::barrier();
      const bench::Stopwatch begun;
      while (splitc::my_proc() == proc && begun.ns() < 2000) continue;
      const bench::Stopwatch watch;
      call();
      samples.add(splitc::all_bcast(watch.ns(), proc));
    }
    report.add_time(name, bytes, samples);
  }
};

// The calls of all processes without a team, by the names that those of a team have.
struct OfJob {
  void barrier() const { splitc::barrier(); }
  void all_bcast(std::span<double> data, std::uint32_t root) const {
    splitc::all_bcast(data, root);
  }
  double all_bcast(double x, std::uint32_t root) const { return splitc::all_bcast(x, root); }
  double all_reduce_to_one(double x, std::plus<> op) const {
    return splitc::all_reduce_to_one(x, op);
  }
  double all_reduce(double x, std::plus<> op) const { return splitc::all_reduce(x, op); }
  double all_scan(double x, std::plus<> op) const { return splitc::all_scan(x, op); }
  void all_reduce(std::span<const double> mine, std::span<double> sum, std::plus<double> op) const {
    splitc::all_reduce(mine, sum, op);
  }
  void all_gather_to_one(std::span<const double> mine, std::span<double> all) const {
    splitc::all_gather_to_one(mine, all);
  }
  void all_gather(std::span<const double> mine, std::span<double> all) const {
    splitc::all_gather(mine, all);
  }
  void all_to_all(std::span<const double> to, std::span<double> from) const {
    splitc::all_to_all(to, from);
  }
};
template <class Calls>
void cells(const Program& program, const std::string& prefix, const Calls& calls) {
  const std::uint32_t n = splitc::procs();
  const auto time = [&](const char* name, std::size_t bytes, auto call) {
    const int count = bytes <= 1024 ? 200 : bytes <= kLarge ? 20 : 3;
    program.time(prefix + name, bytes, count, call);
  };
  time("barrier", 0, [&](std::uint32_t) { calls.barrier(); });
  double x = 1;
  time("broadcast_fixed", 8, [&](std::uint32_t) { x = calls.all_bcast(x, 0); });
  time("broadcast", 8, [&](std::uint32_t i) { x = calls.all_bcast(x, i % n); });
  time("reduce_to_one", 8, [&](std::uint32_t) { calls.all_reduce_to_one(x, std::plus()); });
  time("reduce", 8, [&](std::uint32_t) { x = calls.all_reduce(1.0, std::plus()); });
  time("scan", 8, [&](std::uint32_t) { calls.all_scan(x, std::plus()); });
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, kLarge, 16 * kLarge}) {
    std::vector<double> one(bytes / sizeof(double), 1.0), sum(one.size());
    std::vector<double> all(one.size() * n), from(all.size());
    const std::span<const double> mine(one);
    if (bytes != 8) {
      time("broadcast_fixed", bytes, [&](std::uint32_t) { calls.all_bcast(std::span(sum), 0); });
      time("broadcast", bytes, [&](std::uint32_t i) { calls.all_bcast(std::span(sum), i % n); });
      time("reduce", bytes,
           [&](std::uint32_t) { calls.all_reduce(mine, sum, std::plus<double>()); });
    }
    time("gather_to_one", bytes, [&](std::uint32_t) { calls.all_gather_to_one(mine, all); });
    time("all_gather", bytes, [&](std::uint32_t) { calls.all_gather(mine, all); });
    time("all_to_all", bytes, [&](std::uint32_t) { calls.all_to_all(all, from); });
  }
}

// Of 8 bytes; the others are there, and wait.
void early(const Program& program) {
  const std::uint32_t last = splitc::procs() - 1;
  double x = 1;
  program.time_at(0, "broadcast_root", 8, [&] { x = splitc::all_bcast(x, 0); });
  program.time_at(last, "reduce_giver", 8, [&] { splitc::all_reduce_to_one(x, std::plus()); });
}

// A computation that looks after the call every 2 us.
void compute_ns(double ns) {
  const bench::Stopwatch all;
  while (all.ns() < ns) {
    const bench::Stopwatch part;
    while (part.ns() < 2000) continue;
    splitc::poll();
  }
}

void overlap(const Program& program) {
  std::vector<double> one(kLarge / sizeof(double), 1.0), sum(one.size());
  const std::span<const double> mine(one);
  const double ns = program.time("reduce_alone", kLarge, 20, [&](std::uint32_t) {
    splitc::start_all_reduce(mine, sum, std::plus<double>()).wait();
  });
  program.time("reduce_and_compute", kLarge, 20, [&](std::uint32_t) {
    auto done = splitc::start_all_reduce(mine, sum, std::plus<double>());
    compute_ns(ns);
    done.wait();
  });
}

void store_syncs(const Program& program) {
  program.time("store_sync_idle", 0, 200, [](std::uint32_t) { splitc::all_store_sync(); });
  const auto words = splitc::all_spread_malloc<std::uint64_t>(splitc::procs());
  const auto next = words.on((splitc::my_proc() + 1) % splitc::procs());
  program.time("store_sync", 8, 200, [&](std::uint32_t i) {
    splitc::store(next, std::uint64_t{i});
    splitc::all_store_sync();
  });
  splitc::all_spread_free(words);
}

int measure(int argc, char** argv) {
  int exit_code = 0;
  const bool first = splitc::my_proc() == 0;
  const auto options = bench::parse_options(
      argc, argv, {"collectives", "what all processes do together"}, kEntries, first, exit_code);
  if (!options) return exit_code;
  const bench::Report report(options->csv, first,
                             splitc::world().router().far_peers() ? "far" : "node");
  report.say("collectives: what all processes do together. It can measure:\n" +
             bench::list_of(kEntries) + std::to_string(splitc::procs()) + " processes");
  report.begin();
  const Program program{*options, report};
  if (program.chosen("calls")) cells(program, "", OfJob());
  if (!options->only.empty() && program.chosen("team")) {
    cells(program, "team_", splitc::team::world());
  }
  if (program.chosen("early")) early(program);
  if (program.chosen("overlap")) overlap(program);
  if (program.chosen("store_sync")) store_syncs(program);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [&](splitc::Args) { return measure(argc, argv); });
}
