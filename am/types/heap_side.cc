#include "am/types/heap_side.h"

#include <algorithm>
#include <iterator>

namespace am {

std::uint64_t HeapSide::occupied(std::uint64_t bytes) noexcept {
  return std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
}

std::uint64_t HeapSide::find(std::uint64_t bytes) const {
  const std::uint64_t needed = occupied(bytes);
  const auto hole = std::find_if(holes_.begin(), holes_.end(),
                                 [needed](const auto& entry) { return entry.second >= needed; });
  return hole == holes_.end() ? end_ : hole->first;
}

void HeapSide::take(Block block) {
  const std::uint64_t needed = occupied(block.bytes);
  blocks_.emplace(block.at, block.bytes);
  used_ += needed;
  if (block.at == end_) {
    end_ += needed;
    return;
  }
  const auto hole = holes_.find(block.at);
  const std::uint64_t rest = hole->second - needed;
  holes_.erase(hole);
  if (rest != 0) holes_.emplace(block.at + needed, rest);
}

void HeapSide::release(std::uint64_t at) {
  const auto block = blocks_.find(at);
  const std::uint64_t bytes = occupied(block->second);
  blocks_.erase(block);
  used_ -= bytes;
  add_hole(at, bytes);
}

void HeapSide::add_hole(std::uint64_t at, std::uint64_t bytes) {
  const auto next = holes_.lower_bound(at);
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == at) {
      at = before->first;
      bytes += before->second;
      holes_.erase(before);
    }
  }
  if (next != holes_.end() && next->first == at + bytes) {
    bytes += next->second;
    holes_.erase(next);
  }
  if (at + bytes == end_) {
    end_ = at;
  } else {
    holes_.emplace(at, bytes);
  }
}

std::optional<HeapSide::Block> HeapSide::block_of(std::uint64_t at) const {
  const auto after = blocks_.upper_bound(at);
  if (after == blocks_.begin()) return std::nullopt;
  const auto& [begin, bytes] = *std::prev(after);
  if (at - begin >= occupied(bytes)) return std::nullopt;
  return Block{begin, bytes};
}

std::uint64_t HeapSide::largest_hole() const {
  std::uint64_t largest = 0;
  for (const auto& [at, bytes] : holes_) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace am
