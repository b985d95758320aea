// How memory, connections, start and collective calls grow with the job: measured in jobs of
// several sizes on this machine, checked against the largest of them, and predicted for sizes that
// no machine here has.
//
//   ./run scale            up to 128 processes, a minute or two
//   ./run scale --full     up to 512

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/scale_collectives.h"
#include "benchmarks/scale_measure.h"
#include "benchmarks/scale_model.h"
#include "benchmarks/scale_sweep.h"
#include "benchmarks/support/options.h"
#include "benchmarks/support/report.h"

namespace {

using bench::Model;
using bench::Report;
using bench::ScaleRun;
using bench::Size;
using bench::Term;

constexpr unsigned kPerNode = 64;  // processes a node, in predictions

// A figure, and what it grows by. On this machine all processes share the cores, so what each of
// them does adds up.
struct Growth {
  const char* name;
  const char* unit;
  std::vector<Term> terms;
};

const std::vector<Growth> kGrowth{
    {"heap_KiB", "KiB", {Term::kOne, Term::kNear, Term::kRoom, Term::kFar}},
    {"private_KiB", "KiB", {Term::kOne, Term::kNear, Term::kRoom, Term::kFar}},
    {"used_KiB", "KiB", {Term::kOne, Term::kNear, Term::kRoom, Term::kFar}},
    {"address_MiB", "MiB", {Term::kOne, Term::kNear, Term::kFar}},
    {"connections", "", {Term::kOne, Term::kDepth, Term::kFar}},
    {"start_cpu_ms", "ms", {Term::kOne, Term::kNear, Term::kFar}},
    {"start_ms", "ms", {Term::kOne, Term::kProcesses}},
};

const std::vector<bench::Entry> kEntries{
    {"memory", "heap, private pages and address space of a process"},
    {"connections", "sockets that barriers and reductions open"},
    {"start", "from the launch to the last process's first line, and processor time of one"},
    {"calls", "collective ones, of all processes, and what they are predicted to take"},
};

std::vector<std::string> figures_of(const std::string& entry) {
  if (entry == "memory") return {"heap_KiB", "private_KiB", "used_KiB", "address_MiB"};
  if (entry == "connections") return {"connections"};
  if (entry == "start") return {"start_ms", "start_cpu_ms"};
  std::vector<std::string> calls;
  for (const auto& one : bench::predicted_calls()) calls.push_back(one.name + "_us");
  return calls;
}

bool is_chosen(const bench::Options& options, const std::string& figure) {
  if (options.only.empty()) return true;
  return std::ranges::any_of(options.only, [&](const std::string& entry) {
    return std::ranges::count(figures_of(entry), figure) > 0;
  });
}

std::string route_of(const Size& size) {
  return std::to_string(size.processes) + "x" + std::to_string(size.nodes);
}

Model model_of(const Growth& growth, const std::vector<ScaleRun>& runs, unsigned below) {
  std::vector<bench::Sample> samples;
  for (const ScaleRun& run : runs) {
    // Of the jobs that span nodes only: the others have no network.
    if (run.size.processes < below && run.size.nodes > 1) {
      samples.push_back({run.size, run.figures.at(growth.name)});
    }
  }
  return bench::fit(growth.terms, samples);
}

void print_csv(const bench::Options& options, const std::vector<ScaleRun>& runs) {
  const Report report(true, true);
  report.begin();
  const auto add = [&](const ScaleRun& run, const std::string& name, const std::string& unit) {
    const double value = run.figures.at(name);
    if (!is_chosen(options, name) || value == 0) return;  // no connections: one node
    report.add(
        {.name = name, .value = value, .median = value, .unit = unit, .route = route_of(run.size)});
  };
  for (const ScaleRun& run : runs) {
    for (const Growth& growth : kGrowth) {
      add(run, growth.name, *growth.unit == 0 ? "sockets" : growth.unit);
    }
    for (const std::string& call : figures_of("calls")) add(run, call, "us");
  }
}

void print_table(const bench::Options& options, const std::vector<ScaleRun>& runs) {
  std::printf("\nThe largest of all processes of each job (processes x nodes):\n%-8s", "job");
  for (const Growth& growth : kGrowth) {
    if (is_chosen(options, growth.name)) std::printf(" %13s", growth.name);
  }
  for (const ScaleRun& run : runs) {
    std::printf("\n%-8s", route_of(run.size).c_str());
    for (const Growth& growth : kGrowth) {
      if (is_chosen(options, growth.name)) std::printf(" %13.1f", run.figures.at(growth.name));
    }
  }
  std::printf("\n");
}

// What was measured in the largest jobs beside what the smaller ones predict.
void print_check(const bench::Options& options, const std::vector<ScaleRun>& runs) {
  const unsigned most = runs.back().size.processes;
  std::printf("\nThe largest jobs, beside what those of half the processes and fewer predict:\n");
  std::printf("%-16s %10s %12s %12s %8s\n", "", "job", "measured", "predicted", "ratio");
  for (const Growth& growth : kGrowth) {
    if (!is_chosen(options, growth.name)) continue;
    const Model model = model_of(growth, runs, most);
    for (const ScaleRun& run : runs) {
      if (run.size.processes != most || run.size.nodes == 1) continue;
      const double measured = run.figures.at(growth.name);
      const double predicted = model.at(run.size);
      std::printf("%-16s %10s %12.1f %12.1f %8.2f\n", growth.name, route_of(run.size).c_str(),
                  measured, predicted, measured / predicted);
    }
  }
}

void print_slopes(const bench::Options& options, const std::vector<ScaleRun>& runs) {
  std::printf("\nWhat each grows by on this machine, from all jobs across nodes:\n");
  for (const Growth& growth : kGrowth) {
    if (!is_chosen(options, growth.name)) continue;
    const Model model = model_of(growth, runs, ~0U);
    std::printf("%-16s", growth.name);
    for (std::size_t i = 0; i < model.terms.size(); ++i) {
      std::printf("%s %.4g %s for %s %s", i == 0 ? "" : ",", model.factors[i], growth.unit,
                  i == 0 ? "" : "each", name_of(model.terms[i]));
    }
    std::printf("\n");
  }
}

// Where each process has a core, memory, connections and processor time grow as here.
void print_predictions(const std::vector<ScaleRun>& runs) {
  std::printf("\nLarger jobs, %u processes a node, each with a core:\n", kPerNode);
  std::printf("%10s %8s %13s %13s %13s %13s %13s\n", "processes", "nodes", "heap_KiB",
              "private_KiB", "address_MiB", "connections", "start_cpu_ms");
  for (const unsigned processes : {1024U, 4096U, 16384U, 65536U}) {
    const Size size{processes, processes / kPerNode};
    std::printf("%10u %8u", size.processes, size.nodes);
    for (const char* name :
         {"heap_KiB", "private_KiB", "address_MiB", "connections", "start_cpu_ms"}) {
      const auto growth = std::ranges::find_if(
          kGrowth, [&](const Growth& one) { return std::strcmp(one.name, name) == 0; });
      std::printf(" %13.1f", model_of(*growth, runs, ~0U).at(size));
    }
    std::printf("\n");
  }
}

// Of one message between the two nodes of the smallest job.
bench::Network network_of(const std::vector<ScaleRun>& runs) {
  const auto two = std::ranges::find_if(
      runs, [](const ScaleRun& run) { return run.size.processes == 2 && run.size.nodes == 2; });
  const double overhead = two->figures.at("overhead_us");
  return {.overhead = overhead,
          .latency = std::max(0.0, two->figures.at("round_trip_us") / 2 - 2 * overhead),
          .per_byte = two->figures.at("per_KiB_us") / 1024};
}

// Of this machine, on which all processes share the cores, and what a message costs is their work.
double predicted_here(const am::schedule::Call& call, unsigned nodes,
                      const bench::Network& network) {
  const double cores = std::min(std::thread::hardware_concurrency(), nodes);
  const bench::Prediction prediction = bench::predict(call, nodes, network);
  return std::max(prediction.us, prediction.work_us / cores);
}

// Of a call of one process a node: what was measured, in parts of what is predicted; and what is
// predicted where each has a core, and the network is as that of this machine.
void print_calls(const std::vector<ScaleRun>& runs) {
  const bench::Network network = network_of(runs);
  std::printf(
      "\nCollective calls of one process a node. A message costs %.2f us at each end, %.2f us on "
      "its\nway, and %.3f us for each KiB. Measured with so many nodes, in parts of what is "
      "predicted for\n%u cores; and predicted where each has its own, in us, and with whom the "
      "busiest is connected:\n%-16s",
      network.overhead, network.latency, network.per_byte * 1024,
      std::thread::hardware_concurrency(), "");
  constexpr std::array kNodes{1024U, 4096U, 16384U, 65536U};
  for (const ScaleRun& run : runs) {
    if (run.size.processes == run.size.nodes) std::printf(" %6u", run.size.nodes);
  }
  for (const unsigned nodes : kNodes) std::printf(" %10u", nodes);
  std::printf(" %12s\n", "connections");
  for (const auto& [name, call, then_a_barrier] : bench::predicted_calls()) {
    std::printf("%-16s", name.c_str());
    for (const auto& [size, figures] : runs) {
      if (size.processes != size.nodes) continue;
      double predicted = predicted_here(call, size.nodes, network);
      if (then_a_barrier) predicted += predicted_here({}, size.nodes, network);
      std::printf(" %6.2f", figures.at(name + "_us") / predicted);
    }
    bench::Prediction prediction{};
    for (const unsigned nodes : kNodes) {
      prediction = bench::predict(call, nodes, network);
      std::printf(" %10.1f", prediction.us);
    }
    std::printf(" %12u\n", prediction.connections);
  }
}

int sweep(int argc, char** argv, bool first, unsigned starters) {
  int exit_code = 0;
  const auto options = bench::parse_options(argc, argv, {"scale", "what grows with the job"},
                                            kEntries, first, exit_code);
  if (!options || !first) return exit_code;
  const unsigned most = options->quick ? 8 : options->full ? 512 : 128;
  Report(options->csv, true)
      .say("scale: what grows with the job. It can measure:\n" + bench::list_of(kEntries) +
           std::to_string(starters) + " processes, the first of which starts jobs of 2 to " +
           std::to_string(most));
  const int reps = options->reps > 0 ? options->reps : options->quick ? 5 : 11;
  const auto runs = bench::run_all(bench::launcher_of_this(), bench::sizes_up_to(most), reps);
  if (options->csv) {
    print_csv(*options, runs);
    return 0;
  }
  print_table(*options, runs);
  print_slopes(*options, runs);
  print_check(*options, runs);
  if (options->only.empty()) print_predictions(runs);
  if (is_chosen(*options, figures_of("calls").front())) print_calls(runs);
  return 0;
}

unsigned number_in(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::strcmp(argv[1], "--measure") == 0) {
      return bench::measure_scale(argc, argv, std::strtod(argv[2], nullptr), std::atoi(argv[3]));
    }
    // The jobs to be measured have processes of their own; of this one only the first does a thing.
    return sweep(argc, argv, number_in("SPLITC_RANK", 0) == 0, number_in("SPLITC_SIZE", 1));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scale: %s\n", error.what());
    return 1;
  }
}
