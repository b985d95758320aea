// Memory of a process, of any kind that makes a difference to zero-copy transfers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/soak/content.h"

namespace soak {

enum class Place : std::uint32_t { kHeap, kSegment, kPool };
inline constexpr std::uint32_t kPlaces = 3;

// `bytes` of it, scribbled on; on the heap between guards.
class Block {
 public:
  Block(am::ZeroCopy& zero, Place place, std::size_t bytes, std::size_t shift)
      : zero_(zero), place_(place) {
    switch (place) {
      case Place::kHeap:
        local_ = Local(bytes, shift);
        bytes_ = local_.bytes();
        return;
      case Place::kSegment: whole_ = {splitc::local_malloc<std::byte>(bytes + kMost), bytes}; break;
      case Place::kPool: whole_ = zero.alloc(bytes + kMost); break;
    }
    bytes_ = {whole_.data() + shift, bytes};
    scribble();
  }
  ~Block() {
    if (place_ == Place::kSegment) splitc::local_free(whole_.data());
    if (place_ == Place::kPool) zero_.free(whole_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::span<std::byte> bytes() const noexcept { return bytes_; }
  void scribble() noexcept {
    for (std::byte& b : bytes_) b = kScribble;
  }
  // Empty if the first `count` bytes are the content of `key` and all others are as scribbled.
  std::string difference(std::uint64_t key, std::size_t count) const {
    if (place_ == Place::kHeap) return local_.difference(key, count);
    std::string wrong = soak::difference(bytes_.first(count), key);
    for (const std::byte b : bytes_.subspan(count)) {
      if (b != kScribble && wrong.empty()) wrong = "a byte behind the end was written";
    }
    return wrong;
  }

 private:
  static constexpr std::size_t kMost = 16;  // above every shift

  am::ZeroCopy& zero_;
  const Place place_;
  Local local_;
  std::span<std::byte> whole_;
  std::span<std::byte> bytes_;
};

}  // namespace soak
