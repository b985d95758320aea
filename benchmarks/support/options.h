#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

// What every benchmark program takes from its command line.
struct Options {
  std::vector<std::string> only;  // measurements to run; empty: all
  int reps = 0;                   // repetitions of each; 0: the program's own number
  bool csv = false;
  bool quick = false;  // a few repetitions of little work: shows that it runs, measures nothing
  bool full = false;   // all sizes
};

struct Entry {
  std::string name;
  std::string what;  // one line
};

// Reads the command line of program `name`, whose measurements are `entries`. Nothing, with
// `exit_code` set, if the program shall end now: help was asked for or the line makes no sense.
// `speak`: whether this process prints what there is to say.
std::optional<Options> parse_options(int argc, char** argv, const Entry& program,
                                     const std::vector<Entry>& entries, bool speak, int& exit_code);

// The list of `entries`, a line each.
std::string list_of(const std::vector<Entry>& entries);

}  // namespace bench
