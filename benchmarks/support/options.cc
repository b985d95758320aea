#include "benchmarks/support/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

namespace bench {

std::string list_of(const std::vector<Entry>& entries) {
  std::size_t width = 0;
  for (const Entry& entry : entries) width = std::max(width, entry.name.size());
  std::string list;
  for (const Entry& entry : entries) {
    list += "  " + entry.name + std::string(width + 2 - entry.name.size(), ' ') + entry.what + "\n";
  }
  return list;
}

std::optional<Options> parse_options(int argc, char** argv, const Entry& program,
                                     const std::vector<Entry>& entries, bool speak,
                                     int& exit_code) {
  CLI::App app(program.what, program.name);
  Options options;
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  app.add_option("--only", options.only, "measure only this; may be given several times")
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
  app.add_option("--reps", options.reps, "repetitions of each measurement")
      ->check(CLI::Range(1, 10'000'000));
  app.add_flag("--csv", options.csv, "print benchmark,route,bytes,value,unit and nothing else");
  app.add_flag("--quick", options.quick, "little work, to see that it runs");
  app.add_flag("--full", options.full, "all sizes");
  app.footer("It can measure:\n" + list_of(entries));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (speak) std::cout << app.help();
    exit_code = 0;
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (speak) std::cerr << program.name << ": " << error.what() << "; --help lists the options\n";
    exit_code = 2;
    return std::nullopt;
  }
  return options;
}

}  // namespace bench
