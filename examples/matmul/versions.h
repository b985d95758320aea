#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "examples/matmul/problem.h"

namespace matmul {

// One way to compute C.
struct Version {
  std::string_view name;
  std::string_view sentence;
  // Makes what every run needs, and returns a run. Collective, as are runs, which have a barrier()
  // before and behind them: every process computes its own block, and the pieces that belong to it
  // stay as they are.
  std::function<void()> (*prepare)(Problem& problem);
};

// Of fetch.cc and cannon.cc.
std::function<void()> by_reading(Problem& problem);
std::function<void()> by_getting(Problem& problem);
std::function<void()> by_cannon_with_stores(Problem& problem);
std::function<void()> by_cannon_with_channels(Problem& problem);

}  // namespace matmul
