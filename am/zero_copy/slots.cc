#include "am/zero_copy/slots.h"

#include <algorithm>

namespace am::zero_copy {

std::uint32_t Slots::open() {
  if (slots_.in_use() == kMaxSlots) return kNone;
  Slot& slot = slots_.take([](Slot& made, std::uint32_t number) { made.info.slot = number; });
  slot.in_use = true;
  renew(slot.info.slot, {}, ZeroCopyMode::kNoreg);
  return slot.info.slot;
}

void Slots::close(std::uint32_t slot) noexcept {
  Slot& entry = slots_[slot];
  const std::uint32_t generation = entry.info.generation;
  entry = {};
  entry.info.slot = slot;
  entry.info.generation = generation;
  neighbours_.publish(slot, 0);
  slots_.give_back(entry);
}

void Slots::renew(std::uint32_t slot, std::span<std::byte> memory, ZeroCopyMode mode) {
  Slot& entry = slots_[slot];
  entry.info = {.rank = rank_,
                .slot = slot,
                .generation = std::max(entry.info.generation + 1, 1u),
                .mode = mode,
                .address = reinterpret_cast<std::uintptr_t>(memory.data()),
                .bytes = memory.size(),
                .reference = entry.info.reference};
  entry.prepared = mode == ZeroCopyMode::kReg || mode == ZeroCopyMode::kPrereg;
}

void Slots::publish(std::uint32_t slot) noexcept {
  const Slot& entry = slots_[slot];
  neighbours_.publish(slot, entry.takes_transfers() ? entry.info.generation : 0);
}

bool Slots::any_in(std::span<const std::byte> block) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(block.data());
  return std::ranges::any_of(slots_, [&](const Slot& slot) {
    return slot.in_use && slot.info.mode == ZeroCopyMode::kPrereg && slot.info.address >= begin &&
           slot.info.address - begin < block.size();
  });
}

void Slots::open_request(Slot& slot, std::size_t receivers) noexcept {
  slot.of_request = true;
  slot.receivers = static_cast<std::uint32_t>(std::max<std::size_t>(receivers, 1));
  slot.least = slot.info.bytes;
  ++requests_;
}

void Slots::finish(const End& end, std::size_t bytes, Rank peer, bool source) {
  Slot* const slot = find(end);
  if (slot != nullptr && slot->of_request) {
    slot->least = std::min(slot->least, bytes);
    if (--slot->receivers != 0) return;
    bytes = slot->least;
  }
  if ((slot != nullptr ? slot->callback : end.callback) == nullptr) return settle(end);
  finished_.push({{end.buffer, bytes, peer, source}, end.callback});
}

void Slots::settle(const End& end) noexcept {
  Slot* const slot = find(end);
  if (slot == nullptr) return;
  if (slot->of_request) {
    close(end.buffer.slot);
    --requests_;
  } else {
    --slot->under_way;
  }
}

int Slots::run_callbacks() {
  int count = 0;
  for (std::size_t left = finished_.size(); left != 0; --left) {
    const Finish next = pop(finished_);
    ++count;
    const ZeroCopyInfo& buffer = next.done.buffer;
    if (buffer.slot == kNone) {
      (*next.callback)(next.done);
    } else if (const Slot* const slot = find(buffer.slot, buffer.generation)) {
      const SharedCallback callback = slot->callback;  // which it may replace
      settle({buffer, nullptr});
      (*callback)(next.done);
    }
  }
  return count;
}

}  // namespace am::zero_copy
