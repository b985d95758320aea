#pragma once

#include <cstddef>
#include <cstdint>

#include "am/zero_copy/queue.h"
#include "am/zero_copy/slots.h"
#include "am/zero_copy/types.h"

namespace am::zero_copy {

// The ends that this process has of transfers: each is finished once, and then its callback runs,
// in a poll. The payload of a request has as many ends as the request has receivers, and is
// finished with the last.
//
// Pure logic. Thread rule: the bundle's.
class Ends {
 public:
  explicit Ends(Slots& slots) noexcept : slots_(slots) {}

  // Makes `slot` the payload of a request to so many receivers; 0 is finished as 1.
  void open_request(Slot& slot, std::size_t receivers) noexcept;
  // `bytes` have been moved between `end` and `peer`, and this process's part in that is over.
  void finish(const End& end, std::size_t bytes, Rank peer, bool source);
  // The end takes part in that transfer no more, and nobody is called.
  void settle(const End& end) noexcept;
  // Calls those that have finished until now: what a callback finishes has its turn in the next
  // call. Returns how many. What a callback throws passes through; the others stay.
  int run_callbacks();
  bool has_callbacks() const noexcept { return !finished_.empty(); }
  // Every end has been finished, and all callbacks have run, but for those of transfers that
  // somebody else counts.
  bool idle() const noexcept { return finished_.empty() && requests_ == 0; }

 private:
  struct Finish {
    ZeroCopyDone done;
    SharedCallback callback;  // of what is no ZeroCopyBuffer
  };

  Slots& slots_;
  Queue<Finish> finished_;
  std::uint32_t requests_ = 0;  // whose payloads are not all taken
};

}  // namespace am::zero_copy
