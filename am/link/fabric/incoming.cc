#include "am/link/fabric/incoming.h"

#include "am/types/clock.h"

namespace am::link {

// Not every provider completes receives in the order of their sends (udp;ofi_rxd does not).
Incoming::Opened Incoming::keep(const FrameHeader& header, std::span<const std::byte> frame) {
  const std::uint32_t ahead = header.number - received_[header.source];  // the next one has 1
  if (ahead == 0 || ahead > window_) return Opened::kTwice;
  if (early_.empty()) since_ns_ = now_ns();
  early_.try_emplace({header.source, header.number}, frame.begin(), frame.end());
  return Opened::kEarly;
}

bool Incoming::open_kept() {
  const auto next = early_.find({source_, received_[source_] + 1});
  if (next == early_.end()) return false;
  opened_ = std::move(next->second);
  early_.erase(next);
  since_ns_ = now_ns();
  open(opened_);
  return true;
}

}  // namespace am::link
