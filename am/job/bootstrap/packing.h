// What many processes give to an exchange, as few bytes: processes of one job differ in little, so
// each blob is written as what it has in common with the one before it, and what not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"

namespace am {

// Adds to a text, one after the other, blobs of at most Bootstrap::kMaxBlob bytes. Time in
// proportion to their bytes.
class Packer {
 public:
  static constexpr std::size_t kMaxPacked = Bootstrap::kMaxBlob + 16;  // of one blob, at worst

  void add(std::span<const std::byte> blob);
  std::vector<std::byte> take() { return std::exchange(text_, {}); }

 private:
  std::vector<std::byte> before_;
  std::vector<std::byte> text_;
};

// The blobs of such a text. std::nullopt: it is not exactly the text of `count` blobs.
std::optional<std::vector<std::vector<std::byte>>> unpack(std::span<const std::byte> text,
                                                          std::uint32_t count);

}  // namespace am
