#include <algorithm>

#include "examples/key_sort/sorts.h"
#include "examples/keys/local_sort.h"

namespace key_sort {

using namespace splitc;

std::span<const Key> radix_sort(std::span<const Key> keys, Version version, int digit_bits,
                                Room& room) {
  const std::size_t size = keys.size();
  int which = 0;
  for (int shift = 0; shift < kKeyBits; shift += digit_bits) {
    const int bits = std::min(digit_bits, kKeyBits - shift);
    std::vector<std::uint32_t> counts(std::size_t{1} << bits);
    for (const Key key : keys) ++counts[digit_of(key, shift, bits)];
    Plan plan = plan_of_equal_parts(std::move(counts), size);
    exchange(
        version, keys, [=](std::size_t i) { return digit_of(keys[i], shift, bits); },
        std::move(plan), room, which);
    keys = room.array(which).mine().first(size);
    which = 1 - which;
  }
  return keys;
}

}  // namespace key_sort
