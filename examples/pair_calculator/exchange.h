#pragma once

#include <cstdint>
#include <memory>

#include "examples/pair_calculator/problem.h"

namespace pair_calculator {

// One way to bring the points of the states to the planes, and the results back.
//
// Nobody needs a barrier: a row is written again when its state has had the result, which was
// computed from all rows; and the state's points are when the plane has had them.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Of all states of this process, into the rows of all planes.
  virtual void send_points() = 0;
  // Waits until all rows of some plane of this process have come, and returns that plane: every
  // plane once in an iteration, in any order.
  virtual std::uint32_t next_plane() = 0;
  // Of a plane of this process, to the points of all states.
  virtual void send_results(std::uint32_t plane) = 0;
  // Waits until all points of this process's states have come back.
  virtual void wait_for_results() = 0;
};

// Collective, and so are their ends. The problem outlives them. `mark`: by ready_mark() and
// ready_poll() instead of ready().
std::unique_ptr<Exchange> with_messages(Problem& problem);
std::unique_ptr<Exchange> with_stores(Problem& problem);
std::unique_ptr<Exchange> with_channels(Problem& problem, bool mark);

}  // namespace pair_calculator
