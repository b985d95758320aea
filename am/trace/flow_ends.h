#pragma once

#include <cstdint>
#include <vector>

#include "am/trace/event.h"

namespace am {

// The events at which flows end, to be looked up. Pure logic. Takes 8 to 16 bytes for each.
class FlowEnds {
 public:
  // Room for so many.
  explicit FlowEnds(std::size_t most);

  // `event`, which outlives this, has a flow. (Of several with one flow, all can be taken.)
  void add(TraceEvent& event) noexcept;
  // The end of `flow`, which has not been taken before; nullptr: there is none.
  TraceEvent* take(TraceFlow flow) noexcept;

 private:
  std::size_t place_of(TraceFlow flow) const noexcept { return flow & (places_.size() - 1); }

  std::vector<TraceEvent*> places_;  // as many as a power of two, at most half of them in use
};

}  // namespace am
