#include "am/job/launcher/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <iostream>

#include "am/job/config.h"

namespace am::launcher {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Failure(kExitUsage, sentence); }

template <class Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint32_t processes_of(const std::string& text) {
  if (text.empty()) refuse("how many processes? write -n N, such as splitcrun -n 4 program");
  const auto value = number<std::int64_t>(text);
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
  const auto value = number<std::int64_t>(text);
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

std::optional<double> timeout_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto value = number<double>(text);
  if (!value || !std::isfinite(*value) || *value <= 0 || *value > 1e9) {
    refuse("--timeout " + text + ": not a number of seconds above 0; write one, such as 60");
  }
  return value;
}

Bind bind_of(const std::string& text) {
  if (text == "none") return Bind::kNone;
  if (text == "core") return Bind::kCore;
  if (text == "auto") return Bind::kAuto;
  refuse("--bind " + text + ": not a way to bind; write none, core or auto");
}

// What follows splitcrun's own options.
std::vector<std::string> command_of(std::vector<std::string> rest) {
  if (!rest.empty() && rest[0] == "--") {
    rest.erase(rest.begin());
  } else if (!rest.empty() && rest[0].starts_with("-")) {
    refuse(rest[0] + ": no such option; splitcrun --help lists them");
  }
  if (rest.empty()) refuse("which program? write it after the options: splitcrun -n 4 program");
  return rest;
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Starts N processes of a program on this machine and ends them together.",
               "splitcrun");
  Options options;
  std::string processes, nodes, timeout, bind = "auto";
  bool help_env = false;
  app.add_option("-n", processes, "number of processes")->type_name("N");
  app.add_option("--nodes", nodes, "pretend that the processes are on M machines, in blocks")
      ->type_name("M");
  app.add_option("--bind", bind, "none, core (one core a process) or auto (core if they suffice)")
      ->type_name("HOW");
  app.add_option("--timeout", timeout, "end the job after that long")->type_name("SECONDS");
  app.add_flag("--label", options.label, "begin every line of output with its rank");
  app.add_flag("--verbose", options.verbose, "tell which process runs where");
  app.add_flag("--help-env", help_env, "list the environment variables and exit");
  app.prefix_command();  // what follows the program's name is the program's own
  app.footer(
      "The first word that is no option is the program:\n"
      "  splitcrun -n 4 --label ./hello first second");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    refuse(std::string(error.what()) + "; splitcrun --help lists the options");
  }
  if (help_env) {
    std::cout << describe_settings();
    return std::nullopt;
  }
  options.processes = processes_of(processes);
  options.nodes = nodes_of(nodes, options.processes);
  options.bind = bind_of(bind);
  options.timeout_s = timeout_of(timeout);
  options.command = command_of(app.remaining());
  return options;
}

}  // namespace am::launcher
