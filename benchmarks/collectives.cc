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
#include "am/collective/cost.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/options.h"
#include "benchmarks/support/report.h"
#include "benchmarks/support/samples.h"
#include "splitc/splitc.h"

namespace {

constexpr std::size_t kLarge = 64 * 1024;  // bytes

const std::vector<bench::Entry> kEntries{
    {"barrier", "nobody has anything to say"},
    {"broadcast", "8 bytes and 64 KiB; the root changes every time"},
    {"reduce", "the sum of 8 bytes, and of 64 KiB of double, to everybody"},
    {"all_gather", "8 bytes and 64 KiB of each to everybody"},
    {"all_to_all", "8 bytes and 64 KiB from each to each"},
    {"job", "all calls, of 8 bytes to 1 MiB, with a root that stays and one that changes"},
    {"team", "the same of a team of all processes"},
    {"network", "between two nodes, what the choice of ways goes by: SPLITC_LOGGP"},
    {"sizes", "broadcast, reduce, all_gather and all_to_all of 1 KiB to 1 MiB of each"},
    {"store_sync", "all_store_sync() with nothing stored, and after a store of 8 bytes"},
};

struct Program {
  bench::Options options;
  const bench::Report& report;

  bool chosen(const std::string& name) const {
    return options.only.empty() || std::ranges::find(options.only, name) != options.only.end();
  }
  // Reports `call(i)`, made `count` times a repetition.
  void time(const std::string& name, std::size_t bytes, int count,
            const std::function<void(std::uint32_t)>& call) const {
    bench::Samples samples;
    for (int rep = options.reps != 0 ? options.reps : options.quick ? 2 : 30; rep > 0; --rep) {
      splitc::barrier();
      const bench::Stopwatch watch;
      for (int i = 0; i < count; ++i) call(static_cast<std::uint32_t>(i));
      samples.add(watch.ns() / count);
    }
    report.add_time(name, bytes, samples);
  }
};

void broadcasts(const Program& program) {
  program.time("broadcast", 8, 200, [x = std::uint64_t{1}](std::uint32_t i) mutable {
    x = splitc::all_bcast(x, i % splitc::procs());
  });
  std::vector<std::byte> data(kLarge);
  program.time("broadcast", kLarge, 20,
               [&](std::uint32_t i) { splitc::all_bcast(std::span(data), i % splitc::procs()); });
}

void reductions(const Program& program) {
  program.time("reduce", 8, 200, [](std::uint32_t i) { splitc::all_reduce_to_all_add(1.0 * i); });
  std::vector<double> mine(kLarge / sizeof(double), 1.0), sum(mine.size());
  program.time("reduce", kLarge, 20, [&](std::uint32_t) {
    splitc::all_reduce(std::span<const double>(mine), std::span(sum), std::plus<double>());
  });
}

void gathers(const Program& program) {
  for (const std::size_t bytes : {std::size_t{8}, kLarge}) {
    std::vector<std::byte> mine(bytes), all(bytes * splitc::procs());
    program.time("all_gather", bytes, bytes == 8 ? 200 : 20, [&](std::uint32_t) {
      splitc::all_gather(std::span<const std::byte>(mine), std::span(all));
    });
  }
}

void all_to_alls(const Program& program) {
  for (const std::size_t bytes : {std::size_t{8}, kLarge}) {
    std::vector<std::byte> to(bytes * splitc::procs()), from(to.size());
    program.time("all_to_all", bytes, bytes == 8 ? 200 : 20, [&](std::uint32_t) {
      splitc::all_to_all(std::span<const std::byte>(to), std::span(from));
    });
  }
}

// The calls of all processes without a team, by the names that those of a team have.
struct OfJob {
  void barrier() const { splitc::barrier(); }
  void all_bcast(std::span<double> data, std::uint32_t root) const {
    splitc::all_bcast(data, root);
  }
  double all_bcast(double x, std::uint32_t root) const { return splitc::all_bcast(x, root); }
  double all_reduce_to_one_add(double x) const { return splitc::all_reduce_to_one_add(x); }
  double all_reduce_to_all_add(double x) const { return splitc::all_reduce_to_all_add(x); }
  double all_scan_add(double x) const { return splitc::all_scan_add(x); }
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
  time("bcast_fixed", 8, [&](std::uint32_t) { x = calls.all_bcast(x, 0); });
  time("bcast", 8, [&](std::uint32_t i) { x = calls.all_bcast(x, i % n); });
  time("reduce_to_one", 8, [&](std::uint32_t) { calls.all_reduce_to_one_add(x); });
  time("all_reduce", 8, [&](std::uint32_t) { x = calls.all_reduce_to_all_add(1.0); });
  time("scan", 8, [&](std::uint32_t) { calls.all_scan_add(x); });
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, kLarge, 16 * kLarge}) {
    std::vector<double> one(bytes / sizeof(double), 1.0), sum(one.size());
    std::vector<double> all(one.size() * n), from(all.size());
    const std::span<const double> mine(one);
    if (bytes != 8) {
      time("bcast_fixed", bytes, [&](std::uint32_t) { calls.all_bcast(std::span(sum), 0); });
      time("bcast", bytes, [&](std::uint32_t i) { calls.all_bcast(std::span(sum), i % n); });
      time("all_reduce", bytes,
           [&](std::uint32_t) { calls.all_reduce(mine, sum, std::plus<double>()); });
    }
    time("gather_to_one", bytes, [&](std::uint32_t) { calls.all_gather_to_one(mine, all); });
    time("all_gather", bytes, [&](std::uint32_t) { calls.all_gather(mine, all); });
    time("all_to_all", bytes, [&](std::uint32_t) { calls.all_to_all(all, from); });
  }
}

void of_sizes(const Program& program) {
  for (std::size_t bytes = 1024; bytes <= 1024 * 1024; bytes *= 4) {
    const int count = bytes <= 16 * 1024 ? 20 : 4;
    std::vector<double> one(bytes / sizeof(double), 1.0), sum(one.size());
    std::vector<double> all(one.size() * splitc::procs()), from(all.size());
    program.time("broadcast", bytes, count,
                 [&](std::uint32_t i) { splitc::all_bcast(std::span(sum), i % splitc::procs()); });
    program.time("reduce", bytes, count, [&](std::uint32_t) {
      splitc::all_reduce(std::span<const double>(one), std::span(sum), std::plus<double>());
    });
    program.time("all_gather", bytes, count, [&](std::uint32_t) {
      splitc::all_gather(std::span<const double>(one), std::span(all));
    });
    program.time("all_to_all", bytes, count, [&](std::uint32_t) {
      splitc::all_to_all(std::span<const double>(all), std::span(from));
    });
  }
}

// By what the model of am/collective/cost.h makes of a short get, of short ones that share frames,
// and of a long one. Processes in between wait.
void measure_network(const Program& program) {
  constexpr std::size_t kLong = 1024 * 1024;
  const auto words = splitc::all_spread_malloc<std::byte>(splitc::procs() * kLong);
  const auto there = words.on(splitc::procs() - 1);
  std::vector<std::byte> here(kLong);
  const auto fastest = [&](std::size_t bytes, int times) {
    bench::Samples samples;
    for (int rep = program.options.quick ? 2 : 50; rep > 0; --rep) {
      const bench::Stopwatch watch;
      for (int i = 0; i < times; ++i) splitc::bulk_get(std::span(here).first(bytes), there);
      splitc::sync();
      samples.add(watch.ns() / times);
    }
    return samples.minimum();
  };
  if (splitc::my_proc() == 0) {
    const double trip = fastest(8, 1), share = fastest(8, 64), byte = fastest(kLong, 4) / kLong;
    const double overhead = share / (4 * am::kShare);
    std::printf("SPLITC_LOGGP=L=%.1f,o=%.1f,G=%.3f\n", std::max(0.0, trip / 2 - 2 * overhead) / 1e3,
                overhead / 1e3, byte);
  }
  splitc::barrier();
  splitc::all_spread_free(words);
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
  if (program.chosen("barrier")) {
    program.time("barrier", 0, 200, [](std::uint32_t) { splitc::barrier(); });
  }
  if (program.chosen("broadcast")) broadcasts(program);
  if (program.chosen("reduce")) reductions(program);
  if (program.chosen("all_gather")) gathers(program);
  if (program.chosen("all_to_all")) all_to_alls(program);
  if (!options->only.empty() && program.chosen("job")) cells(program, "job_", OfJob());
  if (!options->only.empty() && program.chosen("team"))
    cells(program, "team_", splitc::team::world());
  if (!options->only.empty() && program.chosen("network")) measure_network(program);
  if (!options->only.empty() && program.chosen("sizes")) of_sizes(program);
  if (program.chosen("store_sync")) store_syncs(program);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [&](splitc::Args) { return measure(argc, argv); });
}
