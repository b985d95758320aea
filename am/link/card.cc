#include "am/link/card.h"

#include <algorithm>

namespace am::link {

std::vector<std::byte> joined(std::span<const std::byte> first, std::span<const std::byte> second) {
  std::vector<std::byte> bytes(first.size() + second.size());
  std::ranges::copy(second, std::ranges::copy(first, bytes.begin()).out);
  return bytes;
}

}  // namespace am::link
