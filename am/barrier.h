#pragma once

#include <cstdint>

#include "am/bundle.h"
#include "am/router.h"

namespace am {

// A barrier over all processes of the job; on one node by flags in shared memory and no message.
//
// With a core for every process it disseminates: in round k everybody tells the process 2^k further
// on, so log2(N) one-way transfers pass and two processes pay exactly one each. With more processes
// than cores every round would cost a turn of the scheduler, so all count down one counter instead
// and the last one wakes the others: two turns each.
//
// In a job of several nodes the processes of each count down their first one's counter, and these
// first ones ("leaders") disseminate among themselves, by packets.
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
  bool counts() const noexcept { return rounds_ == 0 || several_nodes_; }
  bool leads() const noexcept { return leader_ == router_.rank(); }
  RegionHeader& root() const noexcept { return *router_.peer(leader_).header; }
  void tell(int round) noexcept;
  bool disseminated() noexcept;
  void release() noexcept;

  // Constant after construction.
  const Router& router_;
  const bool several_nodes_;
  const Rank leader_;  // of this node
  int rounds_ = 0;     // of the dissemination, among all or among the leaders
  // Owned by the bundle's thread.
  std::uint64_t epoch_ = 0;
  int round_ = 0;
  bool telling_ = false;  // the dissemination has begun
};

}  // namespace am
