#pragma once

#include <cstddef>
#include <cstdint>

#include "am/types/types.h"

namespace am::zero_copy {

// A bool in a message: what arrives may have any value.
class Flag {
 public:
  Flag() = default;
  constexpr Flag(bool value) noexcept : value_(value) {}
  constexpr operator bool() const noexcept { return value_ != 0; }

 private:
  std::uint8_t value_ = 0;
};

// A request with a payload that lies in a buffer of the sender, or comes along. With several
// payloads, `address`, `slot` and `generation` are unused, and what comes along are as many Parts,
// and behind them those payloads that find room there, in their order (PartsAlong).
struct Announcement {
  static constexpr std::size_t kArgumentBytes = 32;
  static constexpr std::size_t kMostWords = kArgumentBytes / sizeof(std::uint32_t);

  std::uint32_t slot;
  std::uint32_t generation;
  std::uint64_t address;
  std::uint64_t bytes;
  HandlerIndex handler;
  std::uint8_t words;
  Flag along;
  std::uint8_t parts;  // 0: one payload
  std::uint8_t unused[4];
  std::byte arguments[kArgumentBytes];
};
static_assert(sizeof(Announcement) <= kMaxArgumentBytes);

// One of several payloads of a request.
struct Part {
  std::uint32_t slot;
  std::uint32_t generation;
  std::uint64_t address;
  std::uint64_t bytes;
};

// Which of several payloads come along with their Parts: each that fits behind those before it. The
// sender and the receiver ask for each payload, in the order of the payloads.
class PartsAlong {
 public:
  static constexpr std::size_t kMostParts = 128;

  explicit PartsAlong(std::size_t parts) noexcept : room_(max_medium() - parts * sizeof(Part)) {}
  bool take(std::uint64_t bytes) noexcept {
    if (bytes > room_) return false;
    room_ -= bytes;
    return true;
  }

 private:
  std::size_t room_;
};
static_assert(PartsAlong::kMostParts * sizeof(Part) <= max_medium());

}  // namespace am::zero_copy
