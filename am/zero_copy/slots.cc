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

}  // namespace am::zero_copy
