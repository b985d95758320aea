#include "am/link/datagram/window/halves.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace am::link::window {
namespace {

constexpr std::size_t kFirstRing = 32;

}  // namespace

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

Sender::~Sender() {
  for (std::uint64_t number = first_; number != end_; ++number) pool_.give_back(slot(number));
}

// The one that the next packet may share: the last, if it was never sent.
Slot* Sender::open() noexcept { return has_new() ? &slot(end_ - 1) : nullptr; }

std::byte* Sender::claim(std::uint32_t bytes) {
  claimed_ = bytes;
  Slot* last = open();
  const std::size_t payload = fill_ - sizeof(DatagramHeader);
  staged_ = bytes > payload;
  if (staged_) {
    const std::size_t shared = last == nullptr ? 0 : std::min<std::size_t>(room(*last), bytes);
    reserve((bytes - shared + payload - 1) / payload, fill_);
    return staging_.bytes;
  }
  if (last == nullptr || room(*last) < bytes) {
    const std::size_t wanted = last == nullptr ? sizeof(DatagramHeader) + bytes : fill_;
    reserve(1, wanted);
    last = &append(wanted);
  }
  return last->memory.data() + last->bytes;
}

// Part of a packet cannot be taken back: so claim() has taken the memory for all of it.
void Sender::commit() noexcept {
  queued_bytes_ += claimed_;
  if (!staged_) {
    slot(end_ - 1).bytes += claimed_;
    return;
  }
  for (std::uint32_t done = 0; done != claimed_;) {
    Slot* last = open();
    if (last == nullptr || room(*last) == 0) last = &append(fill_);
    const auto some =
        static_cast<std::uint32_t>(std::min<std::size_t>(room(*last), claimed_ - done));
    std::memcpy(last->memory.data() + last->bytes, staging_.bytes + done, some);
    last->bytes += some;
    done += some;
  }
}

// Memory for so many datagrams of as many bytes.
void Sender::reserve(std::size_t count, std::size_t bytes) {
  pool_.reserve(count, bytes);
  while (end_ - first_ + count > ring_.size()) grow();
}

// After reserve().
Slot& Sender::append(std::size_t bytes) noexcept {
  Slot& made = *pool_.take(bytes);
  made.number = end_;
  ring_[end_ & (ring_.size() - 1)] = &made;
  ++end_;
  return made;
}

void Sender::grow() {
  std::vector<Slot*> larger(std::max(kFirstRing, 2 * ring_.size()));
  for (std::uint64_t number = first_; number != end_; ++number) {
    larger[number & (larger.size() - 1)] = &slot(number);
  }
  ring_ = std::move(larger);
}

Slot* Sender::next_lost() noexcept {
  if (lost_ == 0) return nullptr;
  for (std::uint64_t number = first_; number != next_; ++number) {
    const Slot& one = slot(number);
    if (one.lost && !one.in_network) return &slot(number);
  }
  return nullptr;
}

void Sender::sent(Slot& slot, std::int64_t now_ns, bool in_network) noexcept {
  if (slot.number == next_) {
    ++next_;
    queued_bytes_ -= slot.bytes - sizeof(DatagramHeader);
    charged_ += charge(slot.bytes);
  } else {
    slot.lost = false;
    slot.repeated = true;
    --lost_;
  }
  ++in_flight_;
  slot.sent_ns = now_ns;
  slot.in_network = in_network;
}

void Sender::completed(Slot& slot) noexcept {
  slot.in_network = false;
  if (slot.number < first_) pool_.give_back(slot);
}

bool Sender::plausible(const DatagramHeader& header) const noexcept {
  const std::uint64_t ack = widen(header.ack, first_);
  if (ack > next_) return false;
  for (unsigned word = 0; word < 2; ++word) {
    if (header.selective[word] == 0) continue;
    const auto last = static_cast<unsigned>(63 - __builtin_clzll(header.selective[word]));
    if (ack + 1 + 64 * word + last >= next_) return false;
  }
  return true;
}

Acknowledged Sender::acknowledge(const DatagramHeader& header) noexcept {
  Acknowledged result;
  const std::uint64_t ack = widen(header.ack, first_);
  for (std::uint64_t number = first_; number < ack; ++number) mark_acked(number, result);
  for (unsigned word = 0; word < 2; ++word) {
    for (std::uint64_t bits = header.selective[word]; bits != 0; bits &= bits - 1) {
      const std::uint64_t number =
          ack + 1 + 64 * word + static_cast<unsigned>(__builtin_ctzll(bits));
      if (number >= first_ && number < next_) mark_acked(number, result);
    }
  }
  for (; first_ != next_ && slot(first_).acked; ++first_) {
    charged_ -= charge(slot(first_).bytes);
    if (!slot(first_).in_network) pool_.give_back(slot(first_));
  }
  return result;
}

void Sender::mark_acked(std::uint64_t number, Acknowledged& result) noexcept {
  Slot& one = slot(number);
  if (one.acked) return;
  one.acked = true;
  highest_ = std::max(highest_, number);
  ++result.count;
  result.newest_ns = std::max(result.newest_ns, one.sent_ns);
  if (one.lost) {
    one.lost = false;
    --lost_;
  } else {
    --in_flight_;
  }
}

void Sender::mark_lost(Slot& slot) noexcept {
  slot.lost = true;
  ++lost_;
  --in_flight_;
}

bool Sender::repeat_oldest() noexcept {
  for (std::uint64_t number = first_; number != next_; ++number) {
    Slot& one = slot(number);
    if (one.acked) continue;
    if (one.in_network || one.bytes > SlotPool::kSmall) return false;
    if (!one.lost) mark_lost(one);
    return true;
  }
  return false;
}

}  // namespace am::link::window
