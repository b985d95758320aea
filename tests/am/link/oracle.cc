#include "tests/am/link/oracle.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/support/seed.h"

namespace am::conformance {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

constexpr std::size_t kWord = 8;
constexpr std::size_t kBetween = 64;

}  // namespace

Oracle::Oracle(Purpose purpose, Rank from, Rank to, std::uint32_t number)
    : key_(mix(mix(mix(::test::seed()) + static_cast<std::uint32_t>(purpose)) +
               (std::uint64_t{from} << 48 | std::uint64_t{to} << 32 | number))) {}

std::uint64_t Oracle::word(std::uint64_t index) const { return mix(key_ + index); }

void Oracle::fill(std::span<std::byte> bytes, std::uint64_t first) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::uint64_t value = word((first + done) / kWord);
    const std::size_t skip = (first + done) % kWord;
    const std::size_t count = std::min(kWord - skip, bytes.size() - done);
    std::memcpy(bytes.data() + done, reinterpret_cast<const std::byte*>(&value) + skip, count);
    done += count;
  }
}

std::vector<std::byte> Oracle::make(std::size_t bytes) const {
  std::vector<std::byte> made(bytes);
  fill(made);
  return made;
}

std::optional<std::size_t> Oracle::difference(std::span<const std::byte> bytes,
                                              std::uint64_t first) const {
  std::vector<std::byte> expected(bytes.size());
  fill(expected, first);
  // Tests are not optimized, and nearly all bytes are equal.
  if (bytes.empty() || std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0) {
    return std::nullopt;
  }
  const auto at = std::ranges::mismatch(bytes, expected).in1;
  return static_cast<std::size_t>(at - bytes.begin());
}

std::vector<std::size_t> edge_sizes() {
  return {0,     1,     2,     4,     7,     8,     9,     63,    64,    65,    127,  128,  129,
          255,   256,   257,   511,   512,   513,   4095,  4096,  4097,  8191,  8192, 8193, 12287,
          12288, 12289, 15359, 15360, 15361, 16383, 16384, 16385, 65535, 65536, 65537};
}

std::vector<std::size_t> small_sizes() {
  std::vector<std::size_t> sizes(301);
  std::iota(sizes.begin(), sizes.end(), std::size_t{0});
  return sizes;
}

std::vector<std::uint64_t> places(const std::vector<std::size_t>& sizes, std::uint64_t begin) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t at = begin;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    offsets.push_back(at + (i % 2 == 0 ? 0 : mix(i) % kBetween));
    at = (offsets.back() + sizes[i] + 2 * kBetween - 1) / kBetween * kBetween;
  }
  return offsets;
}

std::vector<std::uint32_t> shuffled(std::size_t count, Rank rank) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937_64 random(::test::seed() + rank);
  std::ranges::shuffle(order, random);
  return order;
}

}  // namespace am::conformance
