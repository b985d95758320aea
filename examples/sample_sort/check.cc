#include "examples/sample_sort/check.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "examples/sample_sort/splitters.h"
#include "splitc/splitc.h"

namespace sample_sort {
namespace {

using namespace splitc;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("process " + std::to_string(my_proc()) + ": " + what);
}

// The beginning of a process's first line.
struct First {
  bool any = false;
  Splitter line;
};

}  // namespace

Census all_count(std::span<const char> text) {
  Census own;
  for_each_line(text, [&](Line line) {
    ++own.lines;
    own.bytes += line.size() + 1;
    own.hashes += std::hash<Line>()(line);
  });
  return {all_reduce(own.lines, std::plus()), all_reduce(own.bytes, std::plus()),
          all_reduce(own.hashes, std::plus())};
}

void all_check(std::span<const char> text, const Census& before) {
  First first;
  Line last;
  for_each_line(text, [&](Line line) {
    if (line < last) fail("two of its lines are in the wrong order");
    if (!first.any) first = {true, Splitter({line, 0})};
    last = line;
  });

  // My last line against the first one behind it, as far as a splitter shows it.
  const std::vector<First> firsts = all_gather(first);
  const auto behind = std::find_if(firsts.begin() + my_proc() + 1, firsts.end(),
                                   [](const First& other) { return other.any; });
  if (first.any && behind != firsts.end() &&
      last.substr(0, Splitter::kText) > behind->line.place().line) {
    fail("its last line belongs behind the first one of a later process");
  }

  if (all_count(text) != before) fail("the sorted lines are not the lines of the file");
}

}  // namespace sample_sort
