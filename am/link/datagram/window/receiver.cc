#include "am/link/datagram/window/receiver.h"

#include <cstring>
#include <utility>

namespace am::link::window {

Receiver::~Receiver() {
  if (!slots_) return;
  for (Slot* const slot : *slots_) {
    if (slot != nullptr) pool_.give_back(*slot);
  }
}

Receiver::Arrival Receiver::arrive(const Datagram& datagram, bool may_deliver) {
  const std::uint64_t number = widen(datagram.header.number, arrived_);
  if (number < arrived_ || is_early(number)) return Arrival::kDuplicate;
  if (number - delivered_ >= kWindow) return Arrival::kBeyond;
  if (number == delivered_ && may_deliver) [[likely]] {
    ++delivered_;
    advance();
    return Arrival::kNext;
  }
  if (!keep(number, datagram.payload)) return Arrival::kNoRoom;
  if (number == arrived_) {
    advance();
  } else {
    const std::uint64_t bit = number - arrived_ - 1;
    early_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  return Arrival::kKept;
}

bool Receiver::is_early(std::uint64_t number) const noexcept {
  const std::uint64_t bit = number - arrived_ - 1;  // arrived_ itself: the largest there is
  return bit < kWindow && (early_[bit / 64] >> bit % 64 & 1) != 0;
}

bool Receiver::keep(std::uint64_t number, std::span<const std::byte> payload) {
  if (!slots_) slots_ = std::make_unique<Kept>();
  const std::size_t bytes = sizeof(DatagramHeader) + payload.size();
  Slot* const slot = bytes <= pool_.datagram_bytes() ? pool_.take(bytes) : nullptr;
  if (slot == nullptr) return false;
  std::memcpy(slot->memory.data() + slot->bytes, payload.data(), payload.size());
  slot->bytes += static_cast<std::uint32_t>(payload.size());
  slot->number = number;
  (*slots_)[number % kWindow] = slot;
  ++kept_;
  return true;
}

// arrived_ has arrived: on to the next gap.
void Receiver::advance() noexcept {
  bool more = true;
  while (more) {
    ++arrived_;
    more = (early_[0] & 1) != 0;
    early_[0] = early_[0] >> 1 | early_[1] << 63;
    early_[1] >>= 1;
  }
}

Slot* Receiver::next_kept() noexcept {
  if (!has_next()) return nullptr;
  Slot* const slot = slots_ ? std::exchange((*slots_)[delivered_ % kWindow], nullptr) : nullptr;
  ++delivered_;
  if (slot != nullptr) --kept_;
  return slot;
}

}  // namespace am::link::window
