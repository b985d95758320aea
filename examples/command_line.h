// The options of a program, in the order in which --help lists them:
//
//   examples::CommandLine line("Electromagnetic waves on a random bipartite graph.", "em3d");
//   line.option("--size", options.size, "nodes of each side on each process").range(1u, 10'000u);
//   line.option("--version", version, "one of them, or all").one_of(names);
//   line.flag("--csv", csv, "lines of VERSION,SECONDS,CHECKSUM");
//   if (!line.parse(args)) return 0;
//
// CLI11 does the work. It is included in command_line.cc alone, as compiling it takes as long as
// compiling the rest of a program.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "splitc/splitc.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace examples {

class CommandLine {
 public:
  // One of the options, to say more about it. Valid as long as its command line.
  class Option {
   public:
    // Numbers from `least` to `most`. Value is int, unsigned, std::size_t or double; --help names
    // its type, too.
    template <class Value>
    Option range(Value least, Value most) const;
    Option not_negative() const;
    // Nothing but these.
    Option one_of(const std::vector<std::string>& words) const;
    Option one_of(std::initializer_list<unsigned> numbers) const;
    // So many values, one behind another.
    Option values(int count) const;
    Option required() const;
    // Not together with `other`.
    Option excludes(Option other) const;
    // What --help puts in place of the value.
    Option type_name(const std::string& name) const;
    // --help does not show what the variable was before.
    Option without_default() const;

   private:
    friend class CommandLine;
    explicit Option(CLI::Option& option) noexcept : option_(&option) {}

    CLI::Option* option_;
  };

  // `description` is the first line of --help; errors begin with `program`.
  CommandLine(const std::string& description, const std::string& program);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  // An option that sets `value`, which keeps what it is if the option is not given; --help shows
  // that as the default. A name without dashes is that of an argument. Value is int, unsigned,
  // std::size_t, double, std::string, or a vector of std::size_t or of std::string: command_line.cc
  // has these, and programs with others do not link.
  template <class Value>
  Option option(const std::string& name, Value& value, const std::string& description);
  // An option whose value `read` makes sense of. It throws std::invalid_argument if there is none,
  // and parse() adds the name of the option to that sentence.
  Option option_read_by(const std::string& name, std::function<void(const std::string&)> read,
                        const std::string& description);
  // An option without a value: if it is given, `given` is true.
  void flag(const std::string& name, bool& given, const std::string& description);

  // Reads the program's options. Returns false if they were a call for help, which process 0 has
  // printed: the program has nothing more to do. Throws a sentence about options that make no
  // sense, which ends the job.
  bool parse(splitc::Args args);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace examples
