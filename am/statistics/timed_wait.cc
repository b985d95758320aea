#include "am/statistics/timed_wait.h"

#include "am/types/clock.h"

namespace am {

void WaitTime::begin() {
  looks_left_ = kShort;
  stands_for_ = sites_->sample().next();
  if (stands_for_ != 0) begin_ns_ = now_ns();
}

void WaitTime::end_short_part() noexcept {
  const std::int64_t now = now_ns();
  if (stands_for_ != 0) short_part_ns_ = (now - begin_ns_) * stands_for_;
  begin_ns_ = now;
  stands_for_ = 1;
  looks_left_ = kNever;
}

std::int64_t WaitTime::end() noexcept {
  if (stands_for_ == 0) return 0;
  const std::int64_t part = now_ns() - begin_ns_;
  const bool short_part = looks_left_ <= kShort;
  if (short_part) sites_->sample().took(part);
  return short_part_ns_ + part * stands_for_;
}

}  // namespace am
