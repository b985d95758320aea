// What must be where: bytes computed from the seed, from who sends them to whom, and from a number.
// Sender and receiver compute them each for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "am/types/types.h"

namespace am::conformance {

enum class Purpose : std::uint32_t { kRequest, kReply, kBackground, kPut, kStore };

class Oracle {
 public:
  Oracle(Purpose purpose, Rank from, Rank to, std::uint32_t number);

  std::uint64_t word(std::uint64_t index) const;  // bytes 8 * index to 8 * index + 7
  // The bytes from `first` on.
  void fill(std::span<std::byte> bytes, std::uint64_t first = 0) const;
  std::vector<std::byte> make(std::size_t bytes) const;
  // Where `bytes` differ from those from `first` on; none: nowhere.
  std::optional<std::size_t> difference(std::span<const std::byte> bytes,
                                        std::uint64_t first = 0) const;

 private:
  std::uint64_t key_;
};

// Sizes at and around every limit: what providers inject, a page, a medium message, a frame.
std::vector<std::size_t> edge_sizes();
// All sizes up to beyond what most providers inject with our headers.
std::vector<std::size_t> small_sizes();
inline constexpr std::size_t kBig = (std::size_t{4} << 20) + 1;

// Places for pieces of these sizes, one behind the other with bytes between that stay as they are;
// every other place is a multiple of 64. The same in every process.
std::vector<std::uint64_t> places(const std::vector<std::size_t>& sizes, std::uint64_t begin);

// 0 to count - 1, in an order of this process's own.
std::vector<std::uint32_t> shuffled(std::size_t count, Rank rank);

}  // namespace am::conformance
