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

// A request with a payload that lies in a buffer of the sender, or comes along.
struct Announcement {
  static constexpr std::size_t kArgumentBytes = 32;

  std::uint32_t slot;
  std::uint32_t generation;
  std::uint64_t address;
  std::uint64_t bytes;
  HandlerIndex handler;
  std::uint8_t words;
  Flag along;
  std::uint8_t unused[5];
  std::byte arguments[kArgumentBytes];
};
static_assert(sizeof(Announcement) <= kMaxArgumentBytes);

}  // namespace am::zero_copy
