// The updates in six styles of writing them, from the simplest to the fastest between nodes.
#pragma once

#include <span>

#include "examples/gups/updates.h"

namespace gups {

struct Style {
  const char* name;
  bool exact;  // else two processes that change a word at once may lose an update
  // Collective: makes all updates; when it returns all processes have made theirs.
  void (*run)(const Problem& problem, Table& table);
};
std::span<const Style> styles();

}  // namespace gups
