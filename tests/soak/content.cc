#include "tests/soak/content.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tests/soak/random.h"

namespace soak {
namespace {

constexpr std::byte kGuardByte{0x5c};
constexpr std::size_t kShown = 12;  // bytes in a message

std::uint64_t word(std::uint64_t key, std::uint64_t number) noexcept {
  return mixed(key + number * 0x9e3779b97f4a7c15u);
}

std::byte byte_at(std::uint64_t key, std::uint64_t i) noexcept {
  return static_cast<std::byte>(word(key, i / 8) >> 8 * (i % 8));
}

// Calls f(place, eight bytes of content) for whole words, and g(place) for the bytes before and
// behind them, while they return true; the places are within `count` bytes from `from` on.
template <class F, class G>
bool walk(std::size_t count, std::uint64_t key, std::uint64_t from, F&& f, G&& g) {
  std::size_t i = 0;
  for (; i < count && (from + i) % 8 != 0; ++i) {
    if (!g(i)) return false;
  }
  for (; i + 8 <= count; i += 8) {
    if (!f(i, word(key, (from + i) / 8))) return false;
  }
  for (; i < count; ++i) {
    if (!g(i)) return false;
  }
  return true;
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  char digits[4];
  for (const std::byte b : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(b));
    text += digits;
  }
  return text;
}

// `wanted(i)` says what byte i should be.
template <class Wanted>
std::string describe(std::span<const std::byte> bytes, Wanted&& wanted) {
  std::size_t first = bytes.size();
  std::size_t last = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == wanted(i)) continue;
    first = std::min(first, i);
    last = i;
    ++wrong;
  }
  if (wrong == 0) return "";
  const std::size_t shown = std::min(kShown, bytes.size() - first);
  std::byte right[kShown];
  for (std::size_t i = 0; i < shown; ++i) right[i] = wanted(first + i);
  return std::to_string(wrong) + " of " + std::to_string(bytes.size()) +
         " bytes are wrong, from byte " + std::to_string(first) + " to " + std::to_string(last) +
         ": there is " + hexadecimal(bytes.subspan(first, shown)) + ", and should be " +
         hexadecimal(std::span(right, shown));
}

std::string check_constant(std::span<const std::byte> bytes, std::byte value, const char* what) {
  const std::string wrong = describe(bytes, [value](std::size_t) { return value; });
  return wrong.empty() ? "" : std::string(what) + ": " + wrong;
}

}  // namespace

void fill(std::span<std::byte> bytes, std::uint64_t key, std::uint64_t from) noexcept {
  std::byte* const to = bytes.data();
  walk(
      bytes.size(), key, from,
      [to](std::size_t i, std::uint64_t value) {
        std::memcpy(to + i, &value, 8);
        return true;
      },
      [=](std::size_t i) {
        to[i] = byte_at(key, from + i);
        return true;
      });
}

std::string difference(std::span<const std::byte> bytes, std::uint64_t key, std::uint64_t from) {
  const std::byte* const at = bytes.data();
  const bool same = walk(
      bytes.size(), key, from,
      [at](std::size_t i, std::uint64_t value) { return std::memcmp(at + i, &value, 8) == 0; },
      [=](std::size_t i) { return at[i] == byte_at(key, from + i); });
  if (same) return "";
  return describe(bytes, [=](std::size_t i) { return byte_at(key, from + i); });
}

Local::Local(std::size_t bytes, std::size_t shift)
    : memory_(static_cast<std::byte*>(::operator new(bytes + shift + 2 * kGuard))),
      size_(bytes),
      shift_(shift) {
  std::fill_n(memory_, bytes + shift + 2 * kGuard, kGuardByte);
  scribble();
}

Local::Local(Local&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_), shift_(other.shift_) {}

Local& Local::operator=(Local&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(shift_, other.shift_);
  return *this;
}

Local::~Local() { ::operator delete(memory_); }

void Local::scribble() noexcept { std::ranges::fill(bytes(), kScribble); }

std::string Local::difference(std::uint64_t key, std::size_t count) const {
  std::string wrong = soak::difference(bytes().first(count), key);
  if (wrong.empty()) wrong = check_constant(bytes().subspan(count), kScribble, "behind the end");
  if (wrong.empty()) {
    wrong = check_constant({memory_, kGuard + shift_}, kGuardByte, "before the buffer");
  }
  if (wrong.empty()) {
    wrong = check_constant({data() + size_, kGuard}, kGuardByte, "behind the buffer");
  }
  return wrong;
}

}  // namespace soak
