#include "am/trace/flow_ends.h"

#include <algorithm>
#include <bit>

namespace am {

FlowEnds::FlowEnds(std::size_t most) : places_(std::bit_ceil(std::max<std::size_t>(2 * most, 2))) {}

void FlowEnds::add(TraceEvent& event) noexcept {
  std::size_t place = place_of(event.flow);
  while (places_[place] != nullptr) place = place_of(place + 1);
  places_[place] = &event;
}

// What was taken is marked as matched, and stays in its place, so that others are found behind it.
TraceEvent* FlowEnds::take(TraceFlow flow) noexcept {
  for (std::size_t place = place_of(flow); places_[place] != nullptr; place = place_of(place + 1)) {
    TraceEvent& event = *places_[place];
    if (event.flow != flow || event.matched != 0) continue;
    event.matched = 1;
    return &event;
  }
  return nullptr;
}

}  // namespace am
