#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "am/link/datagram/window/slots.h"
#include "am/link/datagram/window/wire.h"

namespace am::link::window {

// The receiving half of the window from one source: which numbers have come, and copies of those
// that cannot be delivered yet.
//
//      delivered_         arrived_
//   all |   kept, complete   |   kept where they have come, gaps between   | kWindow from
//   delivered_
//
// Pure logic. Thread rule: the link's. Allocates once, when the first datagram comes early.
class Receiver {
 public:
  enum class Arrival : std::uint8_t {
    kNext,       // to be delivered now, before next_kept()
    kKept,       // a copy is kept
    kDuplicate,  // it has come before: dropped
    kBeyond,     // the window does not reach so far: dropped
    kNoRoom,     // the pool for copies is exhausted: dropped
  };

  // `pool` outlives the receiver.
  Receiver(SlotPool& pool, std::uint64_t first_number) noexcept
      : pool_(pool), delivered_(first_number), arrived_(first_number) {}
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  // A datagram has come. `may_deliver`: the caller could deliver it now.
  Arrival arrive(const Datagram& datagram, bool may_deliver);
  // The next datagram that was kept and can be delivered, nullptr: none. The caller gives it back
  // to the pool when it has been read.
  Slot* next_kept() noexcept;
  // Whether next_kept() would return one.
  bool has_next() const noexcept { return delivered_ != arrived_; }

  // What an acknowledgement says.
  std::uint64_t arrived() const noexcept { return arrived_; }
  std::uint64_t selective(unsigned word) const noexcept { return early_[word]; }
  bool has_gap() const noexcept { return (early_[0] | early_[1]) != 0; }
  // How many numbers from arrived() on there is room for.
  std::uint32_t room() const noexcept {
    return kWindow - static_cast<std::uint32_t>(arrived_ - delivered_);
  }
  std::uint32_t kept() const noexcept { return kept_; }

 private:
  bool is_early(std::uint64_t number) const noexcept;
  bool keep(std::uint64_t number, std::span<const std::byte> payload);
  void advance() noexcept;

  SlotPool& pool_;
  std::uint64_t delivered_;               // all numbers before have been delivered
  std::uint64_t arrived_;                 // ... have arrived
  std::array<std::uint64_t, 2> early_{};  // bit i of word i / 64: arrived_ + 1 + i has arrived
  std::uint32_t kept_ = 0;
  // By number modulo kWindow: those from delivered_ on that have arrived.
  using Kept = std::array<Slot*, kWindow>;
  std::unique_ptr<Kept> slots_;
};

}  // namespace am::link::window
