#include "am/observe/observed_wait.h"

#include <algorithm>

#include "am/observe/call_sites.h"
#include "am/observe/trace.h"
#include "am/types/clock.h"

namespace am {
namespace {

// What one part of a wait adds to the sum if it stands for so many. A short part is long if a
// handler has run in it, perhaps for seconds, which are not to be taken for 64 times as many: such
// a one adds itself, or as much as the longest that is multiplied.
std::int64_t stood_for(std::int64_t ns, std::uint32_t waits) noexcept {
  constexpr std::int64_t kMultiplied = 1'000'000;
  return std::max(ns, std::min(ns, kMultiplied) * waits);
}

}  // namespace

void WaitTime::begin() {
  if (trace_ != nullptr) begin_ticks_ = ticks();
  if (sites_ == nullptr) return;
  looks_left_ = kShort;
  stands_for_ = sites_->sample().next();
  if (stands_for_ != 0) begin_ns_ = now_ns();
}

void WaitTime::end_short_part() noexcept {
  const std::int64_t now = now_ns();
  if (stands_for_ != 0) short_part_ns_ = stood_for(now - begin_ns_, stands_for_);
  begin_ns_ = now;
  stands_for_ = 1;
  looks_left_ = kNever;
}

// The wait of a barrier is an event of the trace also where it need not wait, so the barrier
// records it, from when it begins.
void WaitTime::note(const Reason& reason) {
  if (sites_ != nullptr) sites_->waited(reason.call, end(), reason.needs);
  if (trace_ == nullptr) return;
  if (reason.collective == 0) {
    trace_->record(TraceKind::kWait, trace_->name_of(reason.call), begin_ticks_,
                   Trace::end_of_wait(begin_ticks_), {.peer = reason.peer});
  }
  Trace::forget_poll();
}

std::int64_t WaitTime::end() noexcept {
  if (stands_for_ == 0) return 0;
  const std::int64_t part = now_ns() - begin_ns_;
  const bool short_part = looks_left_ <= kShort;
  if (short_part) sites_->sample().took(part);
  return short_part_ns_ + (short_part ? stood_for(part, stands_for_) : part);
}

}  // namespace am
