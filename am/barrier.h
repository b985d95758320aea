#pragma once

#include <cstdint>

#include "am/bundle.h"
#include "am/router.h"

namespace am {

// A barrier over all processes of a node, by flags in shared memory and no message.
//
// With a core for every process it disseminates: in round k everybody tells the process 2^k further
// on, so log2(N) one-way transfers pass and two processes pay exactly one each. With more processes
// than cores every round would cost a turn of the scheduler, so all count down one counter instead
// and the last one wakes the others: two turns each.
//
// Thread rule: the bundle's. One barrier per process and job: all processes pass it in step.
class Barrier {
 public:
  explicit Barrier(const Router& router) noexcept;

  // Enters the barrier: says that this process is here. Once per pass.
  void enter() noexcept;
  // Whether all have entered. Call it until it says true; it carries the dissemination on.
  // What others wrote before they entered is then visible here.
  bool passed() noexcept;

  // enter(), and progress on `bundle` until passed().
  void wait(Bundle& bundle) {
    enter();
    bundle.wait_until([this] { return passed(); });
  }

 private:
  void tell(int round) noexcept;

  // Constant after construction.
  const Router& router_;
  int rounds_ = 0;  // 0: by counter
  // Owned by the bundle's thread.
  std::uint64_t epoch_ = 0;
  int round_ = 0;
};

}  // namespace am
