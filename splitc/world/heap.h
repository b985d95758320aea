#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "splitc/world/ledger.h"
#include "splitc/world/place.h"
#include "splitc/world/segment.h"

namespace splitc {

// Hands out the segment of this process behind the runtime's memory. One heap, two sides: spread
// blocks grow up from the bottom and have the same offset in every process, local blocks grow down
// from the top and are of this process alone. Its books are kept outside the segment, so that no
// stray write of a program can harm them; for others to check their pointers against, the edge of
// the local side is there, and in checked builds a ledger of local blocks behind it.
//
// Programs use splitc/pointer/allocate.h. Thread rule: any thread.
class Heap {
 public:
  // The heap of [first, first + bytes) of this process's segment, mapped at `segment`. `first` is
  // divisible by 64. `edge` and `ledger` are this process's.
  Heap(std::byte* segment, std::uint64_t first, std::uint64_t bytes, HeapEdge& edge,
       Ledger ledger = Ledger(nullptr));

  // A spread block has the same number of bytes at the same offset everywhere, zeroed, 64-byte
  // aligned. All processes agree before they take or release one (splitc/pointer/allocate.h).
  //
  // Where one of `bytes` would be.
  std::uint64_t find_spread(std::uint64_t bytes) const;
  // Whether it fits there, and what there is; zeroes it if it does, and keeps it free until
  // take_spread() or leave_spread().
  struct Room {
    bool fits;
    std::uint64_t used;
    std::uint64_t largest;  // free block
  };
  Room prepare_spread(std::uint64_t offset, std::uint64_t bytes) noexcept;
  void take_spread(std::uint64_t offset, std::uint64_t bytes);
  void leave_spread() noexcept;  // some other process has no room for it
  // Throws Error if `offset` is not where a live spread block begins.
  void check_spread(std::uint64_t offset, detail::Call call) const;
  void release_spread(std::uint64_t offset);
  // What is wrong where `bytes` do not fit (total, used, asked and the largest free block, and
  // SPLITC_SEGMENT).
  std::string out_of_memory(std::uint64_t bytes, const Room& room) const;

  // What memory that was freed is filled with, the first 4 KiB of a block.
  static constexpr std::uint64_t kPoison = 0xfffb'dead'fffb'dead;

  // A block of this process alone, 64-byte aligned, with any contents. Throws Error if it lacks the
  // memory.
  std::uint64_t allocate(std::uint64_t bytes, detail::Call call);
  void free(std::uint64_t offset, detail::Call call);

  // The live block that `offset` lies in, in this process's segment.
  std::optional<HeapSide::Block> block_of(std::uint64_t offset) const;
  // The live spread block that `offset` lies in, in every process's segment; also the one that is
  // being agreed on: a process that has left that call may use it, as may functions it runs here.
  std::optional<HeapSide::Block> spread_block_of(std::uint64_t offset) const;

  std::uint64_t total() const noexcept { return end_ - first_; }
  std::uint64_t used() const noexcept;

 private:
  std::uint64_t gap() const noexcept {
    const std::uint64_t promised =
        promised_ ? promised_->at + HeapSide::occupied(promised_->bytes) : 0;
    return total() - std::max(spread_.end(), promised) - local_.end();
  }
  bool fits(const HeapSide& side, std::uint64_t at, std::uint64_t bytes) const noexcept;
  void zero(std::uint64_t offset, std::uint64_t bytes) noexcept;
  // Its caller holds `mutex_`.
  std::optional<HeapSide::Block> taken_spread_block_of(std::uint64_t offset) const;
  std::optional<HeapSide::Block> local_block_of(std::uint64_t offset) const;
  void publish_edge() noexcept;
  void poison(HeapSide::Block block) noexcept;

  // Constant after construction.
  std::byte* segment_;
  std::uint64_t first_;
  std::uint64_t end_;
  HeapEdge& edge_;
  Ledger ledger_;
  mutable std::recursive_mutex mutex_;       // guards the rest among threads
  HeapSide spread_;                          // from first_ upwards
  std::optional<HeapSide::Block> promised_;  // ... one that is being agreed on
  HeapSide local_;                           // from end_ downwards
  std::uint64_t spread_high_ = 0;  // the most that each side has ever reached: beyond it the memory
  std::uint64_t local_high_ = 0;   // is untouched, so zero already
};

namespace detail {
// What is wrong with `bytes` from `offset` on, which begin in `block`; "": they end there, too.
std::string overrun(HeapSide::Block block, std::uint64_t offset, std::uint64_t bytes);
// Throws Error: "BYTES bytes at offset OFFSET of process PROC <fault>".
[[noreturn]] void refuse_range(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes,
                               const std::string& fault, Call call);
}  // namespace detail

}  // namespace splitc
