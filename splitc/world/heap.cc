#include "splitc/world/heap.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "splitc/world/context.h"
#include "splitc/world/place.h"
#include "splitc/world/world.h"

namespace splitc {

namespace {

[[noreturn]] void refuse_free(std::uint64_t offset, const std::string& why, detail::Call call) {
  detail::refuse(call, "offset " + std::to_string(offset) + " of the segment " + why);
}

// Throws Error unless `block` begins there.
void check_begins(const std::optional<HeapSide::Block>& block, std::uint64_t offset,
                  const char* if_none, detail::Call call) {
  if (!block) refuse_free(offset, if_none, call);
  if (block->at == offset) return;
  refuse_free(offset,
              "is inside a block; free the block by its first address, at offset " +
                  std::to_string(block->at),
              call);
}

constexpr const char* kNoBlock =
    "is not memory that is in use: it was freed already, or never allocated; free each block once";

}  // namespace

Heap::Heap(std::byte* segment, std::uint64_t first, std::uint64_t bytes, HeapEdge& edge,
           Ledger ledger)
    : segment_(segment),
      first_(first),
      end_((first + bytes) / HeapSide::kAlign * HeapSide::kAlign),
      edge_(edge),
      ledger_(ledger) {
  publish_edge();
}

void Heap::publish_edge() noexcept { edge_.store(end_ - local_.end(), std::memory_order_relaxed); }

bool Heap::fits(const HeapSide& side, std::uint64_t at, std::uint64_t bytes) const noexcept {
  return bytes <= total() && (at != side.end() || HeapSide::occupied(bytes) <= gap());
}

void Heap::zero(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const auto clear = [&](std::uint64_t from, std::uint64_t to) {
    from = std::max(from, offset);
    to = std::min(to, offset + bytes);
    if (from < to) std::memset(segment_ + from, 0, to - from);
  };
  clear(first_, first_ + spread_high_);
  clear(std::max(end_ - local_high_, first_ + spread_high_), end_);
}

std::string Heap::out_of_memory(std::uint64_t bytes, const Room& room) const {
  return "no room for " + std::to_string(bytes) + " bytes" +
         (bytes >> 63 != 0 ? " (was the number negative?)" : "") +
         ": the heap of each process has " + std::to_string(total()) + " bytes, " +
         std::to_string(room.used) + " of them used, and the largest free block has " +
         std::to_string(room.largest) + "; free something, or set SPLITC_SEGMENT higher";
}

std::uint64_t Heap::used() const noexcept {
  const auto lock = detail::lock_among_threads(mutex_);
  return spread_.used() + local_.used();
}

std::uint64_t Heap::find_spread(std::uint64_t bytes) const {
  const auto lock = detail::lock_among_threads(mutex_);
  return first_ + spread_.find(bytes);
}

Heap::Room Heap::prepare_spread(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const auto lock = detail::lock_among_threads(mutex_);
  const Room room{fits(spread_, offset - first_, bytes), used(),
                  std::max(gap(), spread_.largest_hole())};
  if (!room.fits) return room;
  zero(offset, bytes);
  promised_ = {offset - first_, bytes};
  return room;
}

void Heap::take_spread(std::uint64_t offset, std::uint64_t bytes) {
  const auto lock = detail::lock_among_threads(mutex_);
  promised_.reset();
  spread_.take({offset - first_, bytes});
  spread_high_ = std::max(spread_high_, spread_.end());
}

void Heap::leave_spread() noexcept {
  const auto lock = detail::lock_among_threads(mutex_);
  promised_.reset();
}

// So that a read of freed memory shows, in any build: NaN as a number of either size, and no
// address. The beginning is enough, and costs no more for a large block.
void Heap::poison(HeapSide::Block block) noexcept {
  constexpr std::uint64_t kMost = 4096;
  auto* const words = reinterpret_cast<std::uint64_t*>(segment_ + block.at);
  std::fill_n(words, std::min(HeapSide::occupied(block.bytes), kMost) / sizeof *words, kPoison);
}

void Heap::release_spread(std::uint64_t offset) {
  const auto lock = detail::lock_among_threads(mutex_);
  if (const auto block = taken_spread_block_of(offset)) poison(*block);
  spread_.release(offset - first_);
}

void Heap::check_spread(std::uint64_t offset, detail::Call call) const {
  const auto lock = detail::lock_among_threads(mutex_);
  check_begins(taken_spread_block_of(offset), offset,
               local_block_of(offset) ? "is local memory; give it to local_free" : kNoBlock, call);
}

std::uint64_t Heap::allocate(std::uint64_t bytes, detail::Call call) {
  detail::check_thread(call);
  const auto lock = detail::lock_among_threads(mutex_);
  const std::uint64_t at = local_.find(bytes);
  if (!fits(local_, at, bytes)) {
    detail::refuse(call,
                   out_of_memory(bytes, {false, used(), std::max(gap(), local_.largest_hole())}));
  }
  local_.take({at, bytes});
  local_high_ = std::max(local_high_, local_.end());
  publish_edge();
  const std::uint64_t offset = end_ - at - HeapSide::occupied(bytes);
  ledger_.note({offset, bytes});
  return offset;
}

void Heap::free(std::uint64_t offset, detail::Call call) {
  detail::check_thread(call);
  const auto lock = detail::lock_among_threads(mutex_);
  const auto block = local_block_of(offset);
  check_begins(block, offset,
               spread_block_of(offset) ? "is spread memory; give it to all_spread_free" : kNoBlock,
               call);
  ledger_.forget(*block);
  poison(*block);
  local_.release(end_ - offset - HeapSide::occupied(block->bytes));
  publish_edge();
}

std::optional<HeapSide::Block> Heap::spread_block_of(std::uint64_t offset) const {
  const auto lock = detail::lock_among_threads(mutex_);
  auto block = taken_spread_block_of(offset);
  if (block || !promised_ || offset < first_) return block;
  const std::uint64_t end = promised_->at + HeapSide::occupied(promised_->bytes);
  if (offset - first_ < promised_->at || offset - first_ >= end) return std::nullopt;
  return HeapSide::Block{first_ + promised_->at, promised_->bytes};
}

std::optional<HeapSide::Block> Heap::taken_spread_block_of(std::uint64_t offset) const {
  if (offset < first_) return std::nullopt;
  auto block = spread_.block_of(offset - first_);
  if (block) block->at += first_;
  return block;
}

std::optional<HeapSide::Block> Heap::local_block_of(std::uint64_t offset) const {
  if (offset < first_ || offset >= end_) return std::nullopt;
  const auto lock = detail::lock_among_threads(mutex_);
  auto block = local_.block_of(end_ - 1 - offset);
  if (block) block->at = end_ - block->at - HeapSide::occupied(block->bytes);
  return block;
}

std::optional<HeapSide::Block> Heap::block_of(std::uint64_t offset) const {
  const auto block = spread_block_of(offset);
  return block ? block : local_block_of(offset);
}

}  // namespace splitc
