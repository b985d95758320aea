#include "am/job/stall/code.h"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

#include "am/job/crash/symbol.h"

namespace am {
namespace {

// A file that a process has mapped, and where it begins in its memory.
struct Module {
  std::string path;
  std::uint64_t base = 0;
};

// That has `address`; its path is "" if there is none.
Module module_at(pid_t pid, std::uint64_t address) {
  // /proc may know this process by another number, that of another PID namespace.
  std::ifstream maps("/proc/" + (pid == getpid() ? "self" : std::to_string(pid)) + "/maps");
  Module module;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0, end = 0;
    int path_at = 0;
    const int read = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &begin,
                                 &end, &path_at);
    if (read < 2 || path_at == 0) continue;
    std::string path = line.substr(static_cast<std::size_t>(path_at));
    if (path != module.path) module = {std::move(path), begin};
    if (address >= begin && address < end) return module;
  }
  return {};
}

std::string demangled(std::string_view name) {
  int status = 0;
  const std::string mangled(name);
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return text ? text.get() : mangled;
}

// Without what every program has.
std::string without_namespace(std::string function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = function.find(kAnonymous)) != std::string::npos;) {
    function.erase(at, kAnonymous.size());
  }
  return function;
}

// Without the parameters at its end, which hide the name in a long line. Those of a function around
// it, as in "run()::{lambda(am::OneWay)#1}", stay.
std::string without_parameters(const std::string& function) {
  std::size_t at = function.rfind(')');
  if (at == std::string::npos) return function;
  if (at + 1 < function.size() && function[at + 1] != ' ') return function;  // " const", "[clone"
  for (int depth = 1; depth > 0 && at > 0;) {
    --at;
    depth += function[at] == ')' ? 1 : function[at] == '(' ? -1 : 0;
  }
  return at == 0 ? function : function.substr(0, at);
}

// Where the qualified name that ends before `end` begins: behind what it is an argument of, or
// behind the type that a function returns.
std::size_t begin_of_name(const std::string& text, std::size_t end) {
  int depth = 0;
  for (std::size_t at = std::min(end, text.size()); at > 0; --at) {
    const char c = text[at - 1];
    if (c == ')' || c == '>' || c == '}') ++depth;
    const bool opens = c == '(' || c == '<' || c == '{';
    if (depth == 0 && (opens || c == ' ' || c == ',')) return at;
    if (opens) --depth;
  }
  return 0;
}

bool is_of_library(std::string_view name) {
  return name.starts_with("splitc::") || name.starts_with("am::") || name.starts_with("std::");
}

// Where the next lambda is called one, by g++ or by clang; npos if there is none.
std::size_t find_lambda(const std::string& function, std::size_t from) {
  return std::min(function.find("::{lambda(", from), function.find("::$_", from));
}

// A line of text is enough of a name.
std::string shortened(std::string name) {
  constexpr std::size_t kMost = 120;
  if (name.size() > kMost) name.replace(kMost - 3, std::string::npos, "...");
  return name;
}

struct Code {
  std::string function;  // demangled; "": not known
  std::string place;     // "heat+0x2b3f"
};

Code code_at(pid_t pid, std::uint64_t address) {
  const Module module = module_at(pid, address);
  if (module.path.empty()) return {};
  const SymbolFile file(module.path.c_str());
  const std::uint64_t in_file = file.is_fixed() ? address : address - module.base;
  const auto symbol = file.find(in_file);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%" PRIx64, in_file);
  return {symbol.name.empty() ? "" : without_namespace(demangled(symbol.name)),
          module.path.substr(module.path.rfind('/') + 1) + offset};
}

}  // namespace

std::string around_lambdas(const std::string& function) {
  const std::size_t own = begin_of_name(function, function.find_first_of("<({$"));
  const bool library = is_of_library(std::string_view(function).substr(own));
  for (std::size_t at = find_lambda(function, 0); at != std::string::npos;
       at = find_lambda(function, at + 1)) {
    const std::size_t begin = begin_of_name(function, at);
    std::string around = function.substr(begin, at - begin);
    // A function of the program that has a lambda as an argument is called by its own name.
    if (!around.empty() && !is_of_library(around) && (library || begin == own)) return around;
  }
  return function;
}

std::string describe_code(pid_t pid, std::uint64_t address) {
  const Code code = code_at(pid, address - 1);  // the call is before where it returns to
  if (code.place.empty()) return "";
  const std::string name = shortened(without_parameters(around_lambdas(code.function)));
  return (name.empty() ? "" : name + " ") + "(" + code.place + ")";
}

std::string describe_handler(pid_t pid, std::uint64_t address) {
  const std::string text = code_at(pid, address).function;
  constexpr std::string_view kBegin = "am::Handler<";
  constexpr std::string_view kEnd = ">::invoke(";
  const std::size_t end = text.rfind(kEnd);
  if (!text.starts_with(kBegin) || end == std::string::npos) {  // an untyped one
    return shortened(without_parameters(text));
  }
  std::string name = text.substr(kBegin.size(), end - kBegin.size());  // "&(on_ping(am::Request))"
  if (name.starts_with("&")) name.erase(0, 1);
  if (name.starts_with("(") && name.ends_with(")")) name = name.substr(1, name.size() - 2);
  return shortened(without_parameters(name));
}

std::string describe_place(const SourceLocation& where) {
  if (where.line() != 0) {
    return std::string(where.file_name()) + ":" + std::to_string(where.line());
  }
  if (where.return_address() == nullptr) return "";
  return describe_code(getpid(), reinterpret_cast<std::uintptr_t>(where.return_address()));
}

}  // namespace am
