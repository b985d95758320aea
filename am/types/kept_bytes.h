#pragma once

#include <cstddef>
#include <vector>

namespace am {

// Empties a buffer that is filled again and again. Its memory stays for the next use, up to 4 MiB:
// one long message does not hold its memory for ever.
inline void clear_kept(std::vector<std::byte>& buffer) noexcept {
  constexpr std::size_t kKept = std::size_t{4} << 20;
  if (buffer.capacity() > kKept) {
    std::vector<std::byte>().swap(buffer);
  } else {
    buffer.clear();
  }
}

}  // namespace am
