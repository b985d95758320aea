// splitc-doctor: looks whether this machine, or the job that it is started as, is set up well.
//
//   splitc-doctor -n 8
//   splitcrun -n 4 --nodes 2 splitc-doctor
#include <optional>

#include "am/job/config/lost_output.h"
#include "am/types/types.h"
#include "tools/doctor/in_job.h"
#include "tools/doctor/program_options.h"
#include "tools/doctor/report.h"

namespace am::doctor {
namespace {

// What was asked for by -n and --nodes, as seen by a process of the first node.
JobShape shape_of(const Options& options) {
  const std::uint32_t nodes = options.nodes;
  if (options.processes == 0) return {.processes = 0, .nodes = nodes, .near = 0, .here = 0};
  const std::uint32_t blocks = nodes == 0 ? 1 : nodes;
  const std::uint32_t near = (options.processes + blocks - 1) / blocks;
  return {.processes = options.processes, .nodes = blocks, .near = near, .here = near};
}

// What the job would refuse is a finding; the rest is looked at with the defaults.
Config config_or_defaults() {
  try {
    return read_config();
  } catch (const Error&) {
    return {};
  }
}

int examine(const Options& options) {
  const Config config = config_or_defaults();
  JobReport report;
  if (is_in_job(config)) {
    if (options.processes != 0 || options.nodes != 0) {
      throw UsageError(
          "-n and --nodes are the launcher's, which has started this process: write "
          "them before splitc-doctor");
    }
    report = examine_job(config);
  } else {
    report = {{examine_alone(config, shape_of(options))}, true};
  }
  if (!report.to_print) return 0;
  print_answer(options.json ? json_of(report.nodes) : text_of(report.nodes, options.all));
  return exit_code_of(report.nodes);
}

int main_with(int argc, char** argv) {
  const std::optional<Options> options = parse_doctor_options(argc, argv);
  if (!options) return 0;
  return options->tune ? tune(argc, argv) : examine(*options);
}

}  // namespace
}  // namespace am::doctor

int main(int argc, char** argv) {
  return am::doctor::run_program("splitc-doctor",
                                 [&] { return am::doctor::main_with(argc, argv); });
}
