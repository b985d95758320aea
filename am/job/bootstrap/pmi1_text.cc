#include "am/job/bootstrap/pmi1_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace am {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kBytes = 3;  // become
constexpr std::size_t kDigitsOf =
    4;  // digits of 6 bits; one or two bytes at the end one digit more

constexpr std::size_t digits_of(std::size_t bytes) {
  const std::size_t rest = bytes % kBytes;
  return bytes / kBytes * kDigitsOf + (rest == 0 ? 0 : rest + 1);
}

}  // namespace

std::string to_pmi_text(std::span<const std::byte> bytes) {
  std::string text = std::to_string(bytes.size()) + ":";
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kBytes);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kBytes; ++i) {
      bits = bits << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[i]) : 0);
    }
    for (std::size_t i = 0; i < digits_of(count); ++i) {
      text.push_back(kDigits[bits >> (18 - 6 * i) & 63]);
    }
    bytes = bytes.subspan(count);
  }
  return text;
}

std::optional<std::size_t> pmi_text_size(std::string_view begin, std::size_t max_bytes) {
  const std::size_t colon = begin.find(':');
  std::size_t bytes = 0;
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto [end, error] = std::from_chars(begin.data(), begin.data() + colon, bytes);
  if (error != std::errc() || end != begin.data() + colon) return std::nullopt;
  if (bytes > max_bytes) return std::nullopt;
  return colon + 1 + digits_of(bytes);
}

std::optional<std::vector<std::byte>> from_pmi_text(std::string_view text, std::size_t max_bytes) {
  if (pmi_text_size(text, max_bytes) != text.size()) return std::nullopt;
  text.remove_prefix(text.find(':') + 1);
  std::vector<std::byte> bytes;
  while (!text.empty()) {
    const std::string_view digits = text.substr(0, kDigitsOf);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kDigitsOf; ++i) {
      const std::size_t digit = i < digits.size() ? kDigits.find(digits[i]) : 0;
      if (digit == std::string_view::npos) return std::nullopt;
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
      bytes.push_back(static_cast<std::byte>(bits >> (16 - 8 * i)));
    }
    text.remove_prefix(digits.size());
  }
  return bytes;
}

}  // namespace am
