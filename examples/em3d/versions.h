#pragma once

#include <span>
#include <string_view>

#include "examples/em3d/sweep.h"

namespace em3d {

// One way to do half a step. Collective: every process calls it for its own part, and on return
// nobody needs the old values of the nodes any more.
struct Version {
  std::string_view name;
  std::string_view sentence;
  void (*half_step)(Sweep& sweep);
};

// In the order in which the papers on Split-C improve on one another.
std::span<const Version> versions();

}  // namespace em3d
