#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "splitc/world/place.h"
#include "splitc/world/segment.h"
#include "splitc/world/sync.h"

// What the processes show one another in collective calls.
//
// Each process has two boards in its segment. A collective call writes the own board, passes one
// barrier, and reads the boards of others; the next one uses the other board of everybody. One
// barrier is enough: who writes the board of round k again is in round k + 2, so it has passed the
// barrier of round k + 1, which everybody entered after reading the boards of round k. Boards of
// other nodes are fetched, as far as they are needed.

namespace splitc {

namespace detail {

// One round of a collective call. Throws Error, naming both processes and what they called, when
// another process is in a different one: checked builds compare all processes, release builds those
// whose boards are read.
//
// Thread rule: the world's thread.
class Round {
 public:
  // Announces `call`, cut to 39 letters. Throws Error between barrier_notify() and barrier_wait().
  Round(Call call, std::uint64_t bytes, std::uint64_t kind = 0);
  static Round latest() noexcept;  // the one this process is in

  // This process's board, Board::kBytes to be filled before meet().
  std::byte* mine() noexcept;
  void meet();   // passes the barrier
  void check();  // of checked builds: compares with all, after the barrier; meet() does it

  // After meet(): says which bytes of their boards of() shall give, [at, at + bytes), of processes
  // `first` to `last` - 1. Fetches those of other nodes, all at once.
  void look(std::uint32_t first, std::uint32_t last, std::size_t at, std::size_t bytes);
  // These bytes of one of these processes; valid until this process's next collective call.
  const std::byte* of(std::uint32_t proc) const;

 private:
  explicit Round(unsigned parity) noexcept : call_("barrier"), parity_(parity) {}
  // Where the header and the bytes of a far process are; all headers begin on a whole word.
  std::size_t stride() const noexcept { return (sizeof(BoardHeader) + bytes_ + 7) / 8 * 8; }
  std::size_t place_of(std::uint32_t proc) const noexcept { return (proc - first_) * stride(); }
  handle fetch(std::uint32_t proc, std::size_t at, std::byte* to, std::size_t bytes) const;
  const BoardHeader& header_of(std::uint32_t proc) const;
  void check(std::uint32_t proc) const;

  Call call_;
  unsigned parity_;
  // What look() said, and what it has fetched.
  std::uint32_t first_ = 0;
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::byte> fetched_;
};

}  // namespace detail
}  // namespace splitc
