#include "am/zero_copy/ends.h"

#include <algorithm>

namespace am::zero_copy {

void Ends::open_request(Slot& slot, std::size_t receivers) noexcept {
  slot.of_request = true;
  slot.receivers = static_cast<std::uint32_t>(std::max<std::size_t>(receivers, 1));
  slot.least = slot.info.bytes;
  ++requests_;
}

void Ends::finish(const End& end, std::size_t bytes, Rank peer, bool source) {
  Slot* const slot = slots_.find(end.buffer.slot, end.buffer.generation);
  if (slot != nullptr && slot->of_request) {
    slot->least = std::min(slot->least, bytes);
    if (--slot->receivers != 0) return;
    bytes = slot->least;
  }
  if ((slot != nullptr ? slot->callback : end.callback) == nullptr) return settle(end);
  finished_.push({{end.buffer, bytes, peer, source}, end.callback});
}

void Ends::settle(const End& end) noexcept {
  Slot* const slot = slots_.find(end.buffer.slot, end.buffer.generation);
  if (slot == nullptr) return;
  if (slot->of_request) {
    slots_.close(end.buffer.slot);
    --requests_;
  } else {
    --slot->under_way;
  }
}

int Ends::run_callbacks() {
  int count = 0;
  for (std::size_t left = finished_.size(); left != 0; --left) {
    const Finish next = finished_.pop();
    ++count;
    const ZeroCopyInfo& buffer = next.done.buffer;
    if (buffer.slot == kNone) {
      (*next.callback)(next.done);
    } else if (const Slot* const slot = slots_.find(buffer.slot, buffer.generation)) {
      const SharedCallback callback = slot->callback;  // which it may replace
      settle({buffer, nullptr});
      (*callback)(next.done);
    }
  }
  return count;
}

}  // namespace am::zero_copy
