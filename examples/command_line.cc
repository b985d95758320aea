#include "examples/command_line.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace examples {

// --- One option

template <class Value>
CommandLine::Option CommandLine::Option::range(Value least, Value most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

CommandLine::Option CommandLine::Option::not_negative() const {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

CommandLine::Option CommandLine::Option::one_of(const std::vector<std::string>& words) const {
  option_->check(CLI::IsMember(words));
  return *this;
}

CommandLine::Option CommandLine::Option::one_of(std::initializer_list<unsigned> numbers) const {
  option_->check(CLI::IsMember(numbers));
  return *this;
}

CommandLine::Option CommandLine::Option::values(int count) const {
  option_->expected(count);
  return *this;
}

CommandLine::Option CommandLine::Option::required() const {
  option_->required();
  return *this;
}

CommandLine::Option CommandLine::Option::excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

CommandLine::Option CommandLine::Option::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

CommandLine::Option CommandLine::Option::without_default() const {
  option_->default_str("");
  return *this;
}

// --- All of them

CommandLine::CommandLine(const std::string& description, const std::string& program)
    : app_(std::make_unique<CLI::App>(description, program)) {
  app_->option_defaults()->always_capture_default();
}

CommandLine::~CommandLine() = default;

template <class Value>
CommandLine::Option CommandLine::option(const std::string& name, Value& value,
                                        const std::string& description) {
  return Option(*app_->add_option(name, value, description));
}

CommandLine::Option CommandLine::option_read_by(const std::string& name,
                                                std::function<void(const std::string&)> read,
                                                const std::string& description) {
  const auto read_or_refuse = [name, read = std::move(read)](const std::string& text) {
    try {
      read(text);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(name, error.what());
    }
  };
  return Option(*app_->add_option_function<std::string>(name, read_or_refuse, description));
}

void CommandLine::flag(const std::string& name, bool& given, const std::string& description) {
  app_->add_flag(name, given, description);
}

bool CommandLine::parse(splitc::Args args) {
  try {
    app_->parse(args.argc(), args.argv());
    return true;
  } catch (const CLI::CallForHelp&) {
    splitc::on_one([&] { std::fputs(app_->help().c_str(), stdout); });
    return false;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error(app_->get_name() + ": " + error.what() + "; --help lists the options");
  }
}

// --- The types that programs have

using Option = CommandLine::Option;
using Text = const std::string&;

template Option Option::range(int, int) const;
template Option Option::range(unsigned, unsigned) const;
template Option Option::range(std::size_t, std::size_t) const;
template Option Option::range(double, double) const;

template Option CommandLine::option(Text, int&, Text);
template Option CommandLine::option(Text, unsigned&, Text);
template Option CommandLine::option(Text, std::size_t&, Text);
template Option CommandLine::option(Text, double&, Text);
template Option CommandLine::option(Text, std::string&, Text);
template Option CommandLine::option(Text, std::vector<std::size_t>&, Text);
template Option CommandLine::option(Text, std::vector<std::string>&, Text);

}  // namespace examples
