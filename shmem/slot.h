#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shmem/flag.h"

// One slot of a ring in shared memory: a cache line, half of it the request, half the reply. What
// the bytes mean is for the ring's user; shmem/ring.h says when which half may be read.

namespace shmem {

// What a head word holds beside the sequence number.
using Mark = std::uint16_t;
// The bit of a request's mark that says: there is no reply.
inline constexpr Mark kOneWay = 0x8000;

inline constexpr std::uint64_t make_head(std::uint64_t sequence, Mark mark) noexcept {
  return (sequence << 17) | (std::uint64_t{1} << 16) | mark;
}
inline constexpr Mark mark_of(std::uint64_t head) noexcept { return static_cast<Mark>(head); }
inline constexpr std::uint64_t request_number(std::uint64_t head) noexcept { return head >> 17; }
// Whether `head` is that of request number `sequence`.
inline constexpr bool is_head_of(std::uint64_t head, std::uint64_t sequence) noexcept {
  return (head ^ make_head(sequence, 0)) >> 16 == 0;
}

struct Half {
  static constexpr std::size_t kBytes = 24;
  alignas(8) std::byte bytes[kBytes];
  std::atomic<std::uint64_t> head;
};

struct alignas(kCacheLine) Slot {
  Half request;
  Half reply;
};
static_assert(sizeof(Slot) == kCacheLine && sizeof(Half) == 32);

}  // namespace shmem
