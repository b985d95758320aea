#include "tools/doctor/program_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "am/job/config/config.h"
#include "am/job/config/lost_output.h"
#include "am/job/config/variables.h"
#include "am/types/types.h"

namespace am::doctor {
namespace {

constexpr const char* kDoctorHelp = R"(NAME
  splitc-doctor - look whether this machine, or a job, is set up well for Splitphase

SYNOPSIS
  splitc-doctor [-n N] [--nodes M] [--all] [--json]
  LAUNCHER... splitc-doctor [--all] [--json]
  LAUNCHER... splitc-doctor --tune > FILE

DESCRIPTION
  Looks at what jobs need and prints what to do, worst first, or one line: shared memory, limits, processors,
  libfabric and its providers, network interfaces, what the kernel allows, launchers, settings, and
  files that dead processes have left. It changes nothing, and takes a second or two.

  Under a launcher (splitcrun, mpirun, srun, ...) or with SPLITC_RENDEZVOUS the processes start as a
  job, one of each node looks, and rank 0 prints what they have found. A job that does not start is
  one of the findings.

OPTIONS
  -n N         without a launcher: look whether a job of N processes fits
  --nodes M    ... on M machines, in blocks; 1: nothing is needed of the network
  --tune       measure, in a job of one process on each node, up to which sizes the algorithms of
               collective calls are the fastest, and print that for SPLITC_COLLECTIVES
  --all        print remarks, too: all that was seen
  --json       print one JSON object: errors, warnings, remarks, exit_code, nodes, and findings with
               check, severity, seen, measured, means, remedy and nodes
  --version    print the version and exit
  -h, --help   print this and exit

SEVERITIES
  error        jobs of this kind do not start, or fail
  warning      jobs run, but slowly or not under all conditions
  remark       what was seen; nothing has to be done

EXIT STATUS
  0 only remarks; 1 warnings; 2 errors; 3 the command line makes no sense. Under a launcher it is
  that of rank 0.

ENVIRONMENT
  The settings that a job would have: splitc-info lists them.

EXAMPLES
  splitc-doctor -n 8
  splitcrun -n 4 --nodes 2 splitc-doctor
  mpirun -n 64 splitc-doctor --json > doctor.json
  srun -N 8 -n 8 splitc-doctor --tune > limits
  SPLITC_COLLECTIVES=./limits srun -N 8 -n 64 my_program
)";

constexpr const char* kInfoHelp = R"(NAME
  splitc-info - print version, build and settings of Splitphase

SYNOPSIS
  splitc-info [--json]

DESCRIPTION
  Prints the version, the commit that was installed, compiler and kind of build, the version of
  libfabric that is found here, and every setting (environment variable) with its value, default and
  unit, and whether the value comes from the environment. What SPLITC_SECRET holds is not printed.

OPTIONS
  --json       print the same as one JSON object
  --version    print the version and exit
  -h, --help   print this and exit

EXIT STATUS
  0; 2 if a job would refuse the settings, which is said; 3 the command line makes no sense.
)";

std::string describe_version(const std::string& program) {
  return program + " (Splitphase) " + std::string(kVersion) + ", " +
         (kChecked ? "checked" : "release") + " build\n";
}

std::uint32_t number_of(const std::string& option, const std::string& text, std::uint32_t most) {
  if (text.empty()) return 0;
  const auto value = whole_number<std::uint32_t>(text);
  if (value && *value >= 1 && *value <= most) return *value;
  throw UsageError(option + " " + text + ": not a number from 1 to " + std::to_string(most) +
                   "; write one, such as " + option + " 4");
}

// The options that both programs have, and then `parse`. False: something was printed instead.
bool parse(CLI::App& app, const std::string& program, const char* help, Options& options, int argc,
           char** argv) {
  bool version = false, help_asked = false;
  app.set_help_flag();
  app.add_flag("-h,--help", help_asked);
  app.add_flag("--version", version);
  app.add_flag("--json", options.json);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + "; " + program + " --help lists the options");
  }
  if (help_asked) print_answer(help);
  if (version && !help_asked) print_answer(describe_version(program));
  return !help_asked && !version;
}

}  // namespace

std::optional<Options> parse_doctor_options(int argc, char** argv) {
  CLI::App app;
  Options options;
  std::string processes, nodes;
  app.add_option("-n", processes);
  app.add_option("--nodes", nodes);
  app.add_flag("--all", options.all);
  app.add_flag("--tune", options.tune);
  if (!parse(app, "splitc-doctor", kDoctorHelp, options, argc, argv)) return std::nullopt;
  options.processes = number_of("-n", processes, kMaxSize);
  options.nodes = number_of("--nodes", nodes, kMaxSize);
  if (options.processes != 0 && options.nodes > options.processes) {
    throw UsageError("--nodes " + nodes + ": more than the " + processes +
                     " processes of -n, and every node has at least one; write a smaller number");
  }
  return options;
}

std::optional<Options> parse_info_options(int argc, char** argv) {
  CLI::App app;
  Options options;
  if (!parse(app, "splitc-info", kInfoHelp, options, argc, argv)) return std::nullopt;
  return options;
}

int run_program(const char* program, const std::function<int()>& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 2;
  }
}

}  // namespace am::doctor
