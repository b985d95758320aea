#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>

#include "splitc/splitc.h"

namespace examples {

// Reads the program's options as `app` describes them. Returns false if they were a call for help,
// which process 0 has printed: the program has nothing more to do. Throws a sentence about options
// that make no sense, which ends the job.
inline bool parse(CLI::App& app, splitc::Args args) {
  try {
    app.parse(args.argc(), args.argv());
    return true;
  } catch (const CLI::CallForHelp&) {
    splitc::on_one([&] { std::fputs(app.help().c_str(), stdout); });
    return false;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error(app.get_name() + ": " + error.what() + "; --help lists the options");
  }
}

}  // namespace examples
