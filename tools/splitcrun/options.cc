#include "tools/splitcrun/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "am/job/config/config.h"
#include "am/job/config/control.h"
#include "am/job/config/lost_output.h"
#include "am/job/config/variables.h"

namespace am::launcher {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Failure(kExitUsage, sentence); }

std::uint32_t processes_of(const std::string& text) {
  if (text.empty()) refuse("how many processes? write -n N, such as splitcrun -n 4 program");
  if (text == "p") refuse("-np: it is -n here, such as splitcrun -n 4 program");
  const auto value = whole_number<std::int64_t>(text);
  if (!value) refuse("-n " + text + ": not a number of processes; write one, such as -n 4");
  if (*value < 1) refuse("-n " + text + ": a job has at least 1 process; write -n 1 or more");
  if (*value > Options::kMaxProcesses) {
    refuse("-n " + text + ": more than the " + std::to_string(Options::kMaxProcesses) +
           " processes that one machine is given; write a smaller number");
  }
  return static_cast<std::uint32_t>(*value);
}

std::uint32_t nodes_of(const std::string& text, std::uint32_t processes) {
  if (text.empty()) return 0;
  const auto value = whole_number<std::int64_t>(text);
  if (!value) refuse("--nodes " + text + ": not a number of nodes; write one, such as --nodes 2");
  if (*value < 1)
    refuse("--nodes " + text + ": a job has at least 1 node; write --nodes 1 or more");
  if (*value > processes) {
    refuse("--nodes " + text + ": more than the " + std::to_string(processes) +
           (processes == 1 ? " process" : " processes") +
           " of the job, and every node has at least one; write a smaller number");
  }
  return static_cast<std::uint32_t>(*value);
}

// None: `text` is no number, or none of seconds that anybody waits.
std::optional<double> seconds_of(const std::string& text) {
  const auto value = whole_number<double>(text);
  return value && std::isfinite(*value) && *value <= 1e9 ? value : std::nullopt;
}

std::optional<double> timeout_of(const std::string& option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto value = seconds_of(text);
  if (!value || *value <= 0) {
    refuse(option + " " + text + ": not a number of seconds above 0; write one, such as 60");
  }
  return value;
}

double stall_report_of(const std::string& text) {
  if (text.empty()) return read_config().stall_s;
  const auto value = seconds_of(text);
  if (!value || *value < 0) {
    refuse("--stall-report " + text +
           ": not a number of seconds; write one, such as 30, or 0 for " + "no report");
  }
  return *value;
}

std::uint32_t threads_of(const std::string& text) {
  const auto value = whole_number<std::int64_t>(text);
  if (value && *value >= 1 && *value <= Options::kMaxThreads) {
    return static_cast<std::uint32_t>(*value);
  }
  refuse("--threads " + text + ": not a number of threads from 1 to " +
         std::to_string(Options::kMaxThreads) + "; write one, such as --threads 4");
}

Bind bind_of(const std::string& text) {
  constexpr std::pair<std::string_view, Bind> kWays[] = {
      {"auto", Bind::kAuto}, {"none", Bind::kNone}, {"core", Bind::kCore},
      {"l3", Bind::kL3},     {"numa", Bind::kNuma}, {"socket", Bind::kSocket}};
  for (const auto& [name, way] : kWays) {
    if (name == text) return way;
  }
  refuse("--bind " + text + ": not a way to bind; write none, core, l3, numa, socket or auto");
}

double top_of(const std::string& text) {
  if (text.empty()) return 0;
  if (text == "true") return 1;  // no value
  const auto value = seconds_of(text);
  if (!value || *value < 0.1) {
    refuse("--top=" + text + ": not a number of seconds from 0.1 on; write one, such as --top=5");
  }
  return *value;
}

// As SPLITC_STATS wants it.
std::string statistics_of(const std::string& text) {
  if (text.empty() || text == "json") return text;
  if (text == "true") return "1";  // no value
  refuse("--stats=" + text + ": not a form of statistics; write --stats or --stats=json");
}

// --help's first line, with the program that CLI11 does not know of.
class UsageLine : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: splitcrun -n N [options] PROGRAM [arguments]\n";
  }
};

std::string describe_version() {
  return "splitcrun (Splitphase) " + std::string(kVersion) + ", " +
         (kChecked ? "checked" : "release") + " build; starts programs whose control region has " +
         "version " + std::to_string(Control::kVersion) + "\n";
}

// What follows splitcrun's own options.
// Before anything is said of those that are known.
void refuse_unknown_option(const std::vector<std::string>& rest) {
  if (rest.empty() || rest[0] == "--" || !rest[0].starts_with("-")) return;
  if (rest[0].starts_with("--host") || rest[0].starts_with("--machinefile")) {
    refuse(rest[0] +
           ": no such option, as splitcrun starts processes on this machine only; for "
           "others use mpirun, mpiexec or srun (docs/launching.md)");
  }
  refuse(rest[0] + ": no such option; splitcrun --help lists them");
}

std::vector<std::string> command_of(std::vector<std::string> rest) {
  if (!rest.empty() && rest[0] == "--") rest.erase(rest.begin());
  if (rest.empty()) refuse("which program? write it after the options: splitcrun -n 4 program");
  return rest;
}

// Options as they are written.
struct Texts {
  std::string processes, nodes, timeout, stall_report, stall_timeout, statistics, top;
  std::string bind = "auto", threads = "1";
  bool help_env = false, version = false;
};

void add_options_of_the_job(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("-n", texts.processes, "number of processes")->type_name("N");
  app.add_option("--nodes", texts.nodes, "pretend that the processes are on M machines, in blocks")
      ->type_name("M");
  app.add_option("--bind", texts.bind,
                 "core (a core for each thread), l3, numa, socket (processes in equal blocks on "
                 "those), none or auto (core if they suffice)")
      ->type_name("HOW");
  app.add_option("--threads", texts.threads,
                 "threads of a process that are to have a core each (1)")
      ->type_name("T");
  app.add_option("--timeout", texts.timeout, "end the job after that long")->type_name("SECONDS");
  app.add_option("--stall-report", texts.stall_report,
                 "say who waits for what after that long without progress, 0: never (30, or "
                 "SPLITC_STALL)")
      ->type_name("SECONDS");
  app.add_option("--stall-timeout", texts.stall_timeout,
                 "end the job after that long without progress, with the same report")
      ->type_name("SECONDS");
  app.add_flag("--survive", options.survive,
               "go on without processes that die; the exit code is then 3, if the others end well");
}

void add_options_that_tell(CLI::App& app, Options& options, Texts& texts) {
  app.add_flag("--label", options.label, "begin every line of output with its rank");
  app.add_flag("--verbose", options.verbose, "say which process runs where");
  app.add_flag("--stats", texts.statistics,
               "say at the end where the program waited, and what it did with other nodes; "
               "--stats=json as JSON");
  app.add_flag("--top", texts.top,
               "say every second what each process does; --top=SECONDS for another time");
  app.add_option("--trace", options.trace,
                 "write to FILE at the end what each process did and when, for "
                 "https://ui.perfetto.dev")
      ->type_name("FILE");
  app.add_flag("--watch-near", options.watch_near,
               "--stats and --trace with the accesses to memory of the same node");
  app.add_option("--on-crash", options.on_crash, "say TEXT last if a process has crashed")
      ->type_name("TEXT");
  app.add_flag("--help-env", texts.help_env, "list the environment variables and exit");
  app.add_flag("--version", texts.version, "print the version and exit");
}

// What the texts come to, and what may not be together. Throws Failure.
void read(const Texts& texts, Options& options) {
  if (!options.on_crash.empty()) options.on_crash.push_back('\n');
  options.processes = processes_of(texts.processes);
  options.nodes = nodes_of(texts.nodes, options.processes);
  options.bind = bind_of(texts.bind);
  options.threads = threads_of(texts.threads);
  options.statistics = statistics_of(texts.statistics);
  options.top_s = top_of(texts.top);
  // So that it knows what has been written below the last table.
  if (options.top_s != 0 && isatty(STDERR_FILENO) != 0) options.label = true;
  options.timeout_s = timeout_of("--timeout", texts.timeout);
  options.stall_report_s = stall_report_of(texts.stall_report);
  options.stall_timeout_s = timeout_of("--stall-timeout", texts.stall_timeout);
  if (options.survive && !options.trace.empty()) {
    refuse("--trace " + options.trace +
           ": a trace takes all processes of a job, and with --survive it may lose some; leave out "
           "one of the two");
  }
  const bool tells = !options.trace.empty() || !options.statistics.empty();
  if (options.watch_near && !tells && std::getenv("SPLITC_STATS") == nullptr &&
      std::getenv("SPLITC_TRACE") == nullptr) {
    refuse("--watch-near: it says what --stats and --trace are to tell; add one of these");
  }
}

// CLI11's complaint of an option, which begins with its name, in the words of a command line.
std::string in_words(const CLI::ArgumentMismatch& error) {
  const std::string_view text = error.what();
  const std::string name(text.substr(0, text.find_first_of(": ")));
  if (text.find("At Most") != text.npos) return name + ": given more than once; write it once";
  return name + ": its value is missing; splitcrun --help lists the options";
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Starts N processes of a program on this machine and ends them together.",
               "splitcrun");
  Options options;
  Texts texts;
  add_options_of_the_job(app, options, texts);
  add_options_that_tell(app, options, texts);
  app.prefix_command();  // what follows the program's name is the program's own
  app.formatter(std::make_shared<UsageLine>());
  app.footer(
      "The first word that is no option is the program:\n"
      "  splitcrun -n 4 --label ./hello first second");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_answer(app.help());
    return std::nullopt;
  } catch (const CLI::ArgumentMismatch& error) {
    refuse(in_words(error));
  } catch (const CLI::ParseError& error) {
    refuse(std::string(error.what()) + "; splitcrun --help lists the options");
  }
  if (texts.help_env || texts.version) {
    print_answer(texts.help_env ? describe_settings() : describe_version());
    return std::nullopt;
  }
  const std::vector<std::string> rest = app.remaining();
  refuse_unknown_option(rest);
  read(texts, options);
  options.command = command_of(rest);
  return options;
}

}  // namespace am::launcher
