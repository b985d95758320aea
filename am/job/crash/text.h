// Text that a signal handler can build and write: no allocation, no lock.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace am {

// What does not fit is left out.
class CrashText {
 public:
  CrashText& add(std::string_view text) noexcept {
    text = text.substr(0, bytes_.size() - size_);
    for (const char one : text) bytes_[size_++] = one;
    return *this;
  }
  CrashText& add(std::uint64_t number) noexcept { return add_digits(number, 10); }
  CrashText& add_hex(std::uint64_t number) noexcept { return add("0x").add_digits(number, 16); }

  std::string_view view() const noexcept { return {bytes_.data(), size_}; }
  void clear() noexcept { size_ = 0; }

  // To standard error, as far as it goes.
  void write() const noexcept;

 private:
  CrashText& add_digits(std::uint64_t number, int base) noexcept {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  std::array<char, 8192> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace am
