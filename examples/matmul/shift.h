#pragma once

#include <cstdint>
#include <memory>

#include "examples/matmul/operand.h"

namespace matmul {

// Moves all pieces of one operand around its ring, from each process to the one before it, once in
// each step: in step t they are in buffer t mod 2, and are sent to buffer (t + 1) mod 2 of the
// next.
//
// That buffer was in use in step t - 1 by the process that it belongs to, which release()s it when
// it is not any more: of this its sender hears, and waits for it in send(). No barrier is needed.
class Shift {
 public:
  virtual ~Shift() = default;

  // Brings the pieces of step 0, from where they belong. Collective, as is every run through all
  // steps, and two runs have a barrier() between them.
  virtual void align() = 0;
  // In step t, if it is not the last: sends the pieces on, which may be used meanwhile; and waits
  // for those of step t + 1.
  virtual void send(std::uint32_t t) = 0;
  virtual void receive(std::uint32_t t) = 0;
  // In every step: the pieces have been used and received(). `wanted`: there is a step t + 2.
  virtual void release(std::uint32_t t, bool wanted) = 0;
};

// Collective, and so are their ends. The operand outlives them. Its ring has several processes.
std::unique_ptr<Shift> shift_by_stores(const Operand& operand);
std::unique_ptr<Shift> shift_by_channels(const Operand& operand);

}  // namespace matmul
