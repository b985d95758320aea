#pragma once

#include <memory>

#include "examples/pipeline/stage.h"

namespace pipeline {

// One way to carry blocks from stage to stage. Every stage calls, for every block in turn, what
// applies to it of: receive, claim, release, send. The first stage neither receives nor releases,
// the last one neither claims nor sends.
class Belt {
 public:
  virtual ~Belt() = default;

  // Waits until the next block is in input(turn).
  virtual void receive(unsigned turn) = 0;
  // input(turn) is no longer needed: the stage before may send the block after the next.
  virtual void release(unsigned turn) = 0;
  // Waits until the next stage has released its input(turn). Then output(turn) is free, too.
  virtual void claim(unsigned turn) = 0;
  // Sends output(turn).
  virtual void send(unsigned turn) = 0;
};

// Collective, and so are their ends. The stage outlives them.
std::unique_ptr<Belt> with_messages(Stage& stage);
std::unique_ptr<Belt> with_stores(Stage& stage);
std::unique_ptr<Belt> with_channels(Stage& stage);

}  // namespace pipeline
