#include "am/zero_copy/pool.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace am::zero_copy {

Pool::Pool(std::span<std::byte> memory) : memory_(memory) {
  if (!memory.empty()) free_[0] = memory.size();
}

std::span<std::byte> Pool::allocate(std::size_t bytes) {
  if (bytes > memory_.size()) return {};
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [&](const auto& range) { return range.second >= rounded; });
  if (found == free_.end()) return {};
  const auto [offset, room] = *found;
  free_.erase(found);
  if (room != rounded) free_[offset + rounded] = room - rounded;
  blocks_[offset] = rounded;
  used_ += rounded;
  return memory_.subspan(offset, bytes);
}

bool Pool::release(const std::byte* block) {
  const std::span<std::byte> range = block_at(block);
  if (range.empty()) return false;
  const auto offset = static_cast<std::size_t>(block - memory_.data());
  blocks_.erase(offset);
  used_ -= range.size();
  auto at = free_.emplace(offset, range.size()).first;
  if (const auto next = std::next(at);
      next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at != free_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
  }
  return true;
}

std::span<std::byte> Pool::block_at(const std::byte* begin) const {
  const std::less<> before;
  if (memory_.empty() || before(begin, memory_.data())) return {};
  const auto found = blocks_.find(static_cast<std::size_t>(begin - memory_.data()));
  return found == blocks_.end() ? std::span<std::byte>()
                                : memory_.subspan(found->first, found->second);
}

bool Pool::holds(std::span<const std::byte> range) const {
  const std::less<> before;
  if (memory_.empty() || before(range.data(), memory_.data())) return false;
  const auto offset = static_cast<std::size_t>(range.data() - memory_.data());
  auto block = blocks_.upper_bound(offset);
  if (block == blocks_.begin()) return false;
  --block;
  const std::size_t within = offset - block->first;
  return within <= block->second && range.size() <= block->second - within;
}

}  // namespace am::zero_copy
