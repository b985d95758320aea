#pragma once

#include <memory>

#include "examples/matmul3d/problem.h"

namespace matmul3d {

// One way to bring the pieces of a phase to where they are needed.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Sends this process's pieces, and returns when those of the others have come. Turns alternate.
  // No barrier is needed: who sends the pieces of one turn has had those of the turn before, which
  // their sender sent when it no longer needed the pieces of the turn before that.
  virtual void exchange(unsigned turn, Phase phase) = 0;
};

// Collective, and so are their ends. The problem outlives them.
std::unique_ptr<Exchange> with_messages(Problem& problem);
std::unique_ptr<Exchange> with_stores(Problem& problem);
std::unique_ptr<Exchange> with_channels(Problem& problem);

}  // namespace matmul3d
