#include "tests/litmus/program.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

namespace litmus {
namespace {

const std::map<std::string_view, Kind> kKinds = {
    {"put", Kind::kPut},         {"get", Kind::kGet},     {"sync", Kind::kSync},
    {"store", Kind::kStore},     {"count", Kind::kCount}, {"all_counted", Kind::kAllCounted},
    {"add", Kind::kAdd},         {"swap", Kind::kSwap},   {"cas", Kind::kCompareAndSwap},
    {"miss", Kind::kMiss},       {"call", Kind::kCall},   {"send", Kind::kSend},
    {"receive", Kind::kReceive}, {"ask", Kind::kAsk},     {"barrier", Kind::kBarrier},
    {"notify", Kind::kNotify},   {"wait", Kind::kWait},   {"wide", Kind::kWideWrite},
    {"bulk", Kind::kBulkWrite},
};

bool is_location(char c) { return c >= 'g' && c <= 'z'; }
bool is_register(char c) { return c >= 'a' && c < 'a' + static_cast<char>(kRegisters); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
std::uint8_t location_of(char c) { return static_cast<std::uint8_t>(c - 'g'); }
std::uint8_t register_of(char c) { return static_cast<std::uint8_t>(c - 'a'); }
std::uint8_t value_of(char c) { return static_cast<std::uint8_t>(c - '0'); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in{std::string(text)};
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// What is behind the name of an operation: "x=1", "a=x", "a=x+1", "a=x=1", "8" or nothing.
void parse_operands(const std::string& text, Operation& operation) {
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  const bool equal = at(1) == '=';
  if (text.size() == 3 && is_location(at(0)) && equal && is_digit(at(2))) {
    operation.location = location_of(at(0));
    operation.value = value_of(at(2));
  } else if (is_register(at(0)) && equal && is_location(at(2))) {
    operation.reg = register_of(at(0));
    operation.location = location_of(at(2));
    if (text.size() == 5 && (at(3) == '+' || at(3) == '=') && is_digit(at(4))) {
      operation.value = value_of(at(4));
    } else if (text.size() != 3) {
      throw std::invalid_argument(text);
    }
  } else if (text.size() == 1 && is_digit(at(0))) {
    operation.value = value_of(at(0));
  } else if (!text.empty()) {
    throw std::invalid_argument(text);
  }
}

Operation parse_operation(const std::string& text) {
  std::istringstream in(text);
  std::string name;
  std::string operands;
  in >> name >> operands;
  Operation operation{Kind::kRead};
  const auto kind = kKinds.find(name);
  if (kind == kKinds.end()) {  // a plain read or write
    if (name.size() != 3) throw std::invalid_argument(text);
    parse_operands(name, operation);
    operation.kind = is_location(name[0]) ? Kind::kWrite : Kind::kRead;
    return operation;
  }
  operation.kind = kind->second;
  parse_operands(operands, operation);
  const bool reads = !operands.empty() && is_register(operands[0]);
  if (reads && operation.kind == Kind::kWideWrite) operation.kind = Kind::kWideRead;
  if (reads && operation.kind == Kind::kBulkWrite) operation.kind = Kind::kBulkRead;
  return operation;
}

bool has_location(Kind kind) {
  switch (kind) {
    case Kind::kWrite:
    case Kind::kPut:
    case Kind::kStore:
    case Kind::kWideWrite:
    case Kind::kBulkWrite: return true;
    default: return has_register(kind);
  }
}

void add_sorted(std::vector<std::uint8_t>& set, std::uint8_t number) {
  const auto place = std::lower_bound(set.begin(), set.end(), number);
  if (place == set.end() || *place != number) set.insert(place, number);
}

}  // namespace

bool Program::needs_words() const {
  return uses(Kind::kAdd) || uses(Kind::kSwap) || uses(Kind::kCompareAndSwap) || uses(Kind::kMiss);
}
bool Program::needs_eight_bytes() const { return uses(Kind::kCount) || uses(Kind::kCall); }

bool Program::uses(Kind kind) const {
  return std::ranges::any_of(processes, [=](const auto& operations) {
    return std::ranges::any_of(operations, [=](const auto& one) { return one.kind == kind; });
  });
}

std::size_t Program::process_of(std::uint8_t reg) const {
  const auto has = [=](const std::vector<Operation>& operations) {
    return std::ranges::any_of(operations, [=](const Operation& operation) {
      return has_register(operation.kind) && operation.reg == reg;
    });
  };
  return static_cast<std::size_t>(std::ranges::find_if(processes, has) - processes.begin());
}

bool has_register(Kind kind) noexcept {
  switch (kind) {
    case Kind::kRead:
    case Kind::kGet:
    case Kind::kAdd:
    case Kind::kSwap:
    case Kind::kCompareAndSwap:
    case Kind::kMiss:
    case Kind::kCall:
    case Kind::kWideRead:
    case Kind::kBulkRead: return true;
    default: return false;
  }
}
bool is_collective(Kind kind) noexcept {
  return kind == Kind::kBarrier || kind == Kind::kNotify || kind == Kind::kWait ||
         kind == Kind::kAllCounted;
}

std::vector<Kind> collective_calls(const std::vector<Operation>& operations) {
  std::vector<Kind> calls;
  for (const Operation& operation : operations) {
    if (is_collective(operation.kind)) calls.push_back(operation.kind);
  }
  return calls;
}

Program parse(const Case& test) {
  Program program;
  program.test = &test;
  try {
    if (*test.program == '\0') throw std::invalid_argument(test.program);
    for (const std::string& process : split(test.program, '|')) {
      std::vector<Operation>& operations = program.processes.emplace_back();
      for (const std::string& text : split(process, ';')) {
        const Operation operation = parse_operation(text);
        operations.push_back(operation);
        if (has_register(operation.kind)) add_sorted(program.registers, operation.reg);
        if (has_location(operation.kind)) add_sorted(program.locations, operation.location);
      }
    }
    for (const char* letter = test.finals; *letter != '\0'; ++letter) {
      program.finals.push_back(location_of(*letter));
    }
    for (const std::string& place : split(test.home, ' ')) {  // as "x@1"
      program.home.at(location_of(place.at(0))) = value_of(place.at(2));
    }
  } catch (const std::exception& error) {
    throw std::invalid_argument(std::string(test.name) + ": \"" + error.what() +
                                "\" is no operation");
  }
  for (const auto& operations : program.processes) {
    if (collective_calls(operations) != collective_calls(program.processes[0])) {
      throw std::invalid_argument(std::string(test.name) + ": its processes call different things");
    }
  }
  return program;
}

bool fits(std::string_view patterns, std::string_view outcome) {
  const auto fits_one = [&](const std::string& pattern) {
    return std::ranges::equal(pattern, outcome, [](char wanted, char seen) {
      return wanted == '*' || wanted == seen || (wanted == '?' && (seen == '0' || seen == '1'));
    });
  };
  return std::ranges::any_of(split(patterns, ' '), fits_one);
}

}  // namespace litmus
