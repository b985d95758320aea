#pragma once

#include <cstdint>
#include <span>

#include "examples/sample_sort/text.h"

namespace sample_sort {

// What a collection of lines keeps when it is sorted.
struct Census {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;   // newlines among them
  std::uint64_t hashes = 0;  // the sum of a hash of every line

  friend bool operator==(const Census&, const Census&) = default;
};

// Of the lines of all processes, of which `text` has this one's. Collective.
Census all_count(std::span<const char> text);

// Throws a sentence unless the lines of all processes, of which `text` has this one's, are in order
// from the first of process 0 to the last of the last, and are those that `before` counted.
// Collective.
void all_check(std::span<const char> text, const Census& before);

}  // namespace sample_sort
