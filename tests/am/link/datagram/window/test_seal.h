#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "am/link/datagram/window/seal.h"

namespace am::link::window {

// A checksum with a key for tests, many times faster than SipHash: it notices every change of a
// word, but anybody could make one. `bytes` is a multiple of 8 in what is correct.
inline int quick_seal(unsigned char* out, const unsigned char* in, unsigned long long bytes,
                      const unsigned char* key) noexcept {
  std::uint64_t hash = 0;
  std::memcpy(&hash, key, sizeof hash);
  hash += bytes;
  for (; bytes != 0;) {
    std::uint64_t word = 0;
    const auto some = bytes < 8 ? bytes : 8;
    std::memcpy(&word, in, some);
    hash = std::rotl((hash ^ word) * 0x9e3779b97f4a7c15, 29);
    in += some;
    bytes -= some;
  }
  std::memcpy(out, &hash, sizeof hash);
  return 0;
}

inline Seal test_seal(std::uint64_t key) noexcept {
  Seal::Key bytes{};
  std::memcpy(bytes.data(), &key, sizeof key);
  return {&quick_seal, bytes};
}

}  // namespace am::link::window
