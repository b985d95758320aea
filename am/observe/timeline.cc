#include "am/observe/timeline.h"

#include <algorithm>
#include <bit>

#include "am/types/clock.h"

namespace am {

namespace {

// Through two points of which the second may be the first: then the slope is `otherwise`.
double slope(double x, double y, double otherwise) noexcept { return x != 0 ? y / x : otherwise; }

// Not std::llround(): programs in C that are linked with the static library do not name libm.
std::int64_t rounded(double x) noexcept {
  return static_cast<std::int64_t>(x < 0 ? x - 0.5 : x + 0.5);
}

}  // namespace

std::int64_t ClockLine::at(std::uint64_t ticks) const noexcept {
  const auto since = [&](std::uint64_t now) {
    return static_cast<double>(static_cast<std::int64_t>(now - first.ticks));
  };
  const double ns_per_tick = slope(since(last.ticks), static_cast<double>(last.ns - first.ns), 1);
  const std::int64_t here = first.ns + rounded(since(ticks) * ns_per_tick);
  const double drift = slope(static_cast<double>(after.at_ns - before.at_ns),
                             static_cast<double>(after.ns - before.ns), 0);
  return here + before.ns + rounded(static_cast<double>(here - before.at_ns) * drift);
}

void BestAnswer::add(const ClockAnswer& answer) noexcept {
  const std::int64_t took = answer.answered_ns - answer.asked_ns;
  if (any_ && took >= took_ns_) return;
  any_ = true;
  took_ns_ = took;
  const std::int64_t middle = answer.asked_ns + took / 2;
  offset_ = {middle, answer.there_ns - middle};
}

ClockLine::Reading read_clocks() noexcept {
  ClockLine::Reading best;
  std::int64_t shortest = -1;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::int64_t before = now_ns();
    const std::uint64_t count = ticks();
    const std::int64_t took = now_ns() - before;
    if (shortest >= 0 && took >= shortest) continue;
    shortest = took;
    best = {count, before + took / 2};
  }
  return best;
}

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
