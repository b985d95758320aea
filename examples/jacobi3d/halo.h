#pragma once

#include <memory>

#include "examples/jacobi3d/block.h"

namespace jacobi3d {

// One way to bring the outermost layers of all blocks to the ghosts of their neighbours.
class Halo {
 public:
  virtual ~Halo() = default;

  // Sends this block's six outermost layers of the values of `turn`; finish() returns when its
  // ghosts have come. The turns alternate. No barrier is needed: who sends the layers of one turn
  // has had those of the turn before from all neighbours, so these no longer need those of the turn
  // before that, whose place the new ones take.
  virtual void start(unsigned turn) = 0;
  virtual void finish(unsigned turn) = 0;
};

// Collective, and so is their end. The block outlives them.
std::unique_ptr<Halo> with_messages(Block& block);
std::unique_ptr<Halo> with_stores(Block& block);
std::unique_ptr<Halo> with_channels(Block& block);

}  // namespace jacobi3d
