#pragma once

#include <atomic>
#include <cstdint>

#include "shmem/attention.h"
#include "shmem/flag.h"

// Notifications: how the senders of a node notify one process that an event of a persistent kind
// has happened again, with one store of a word that only this sender writes.
//
// A sender takes whole cache lines of the receiver's board and assigns one word of them (a seat) to
// each kind of event; a line whose seats are all free again goes back to the board. The receiver
// polls the lines where something came lately (shmem/attention.h), so idle ones cost nothing,
// however many there are.
//
// Two processes that notify one another share one line for the first few seats of each. The one
// that has read a notification owns the line in its cache, and writes its own into it: a round trip
// moves one line twice between two caches, and four times with a line for each direction (measured:
// 120 ns and 240).

namespace shmem {

// What a sender's word holds: which kind of event, the generation of that number, incremented each
// time it is reused, and how many times it has happened so far.
struct Arrival {
  std::uint16_t number = 0;
  std::uint16_t generation = 0;
  std::uint32_t count = 0;

  bool operator==(const Arrival&) const = default;

  static constexpr Arrival of(std::uint64_t word) noexcept {
    return {static_cast<std::uint16_t>(word >> 48), static_cast<std::uint16_t>(word >> 32),
            static_cast<std::uint32_t>(word)};
  }
  constexpr std::uint64_t word() const noexcept {
    return std::uint64_t{number} << 48 | std::uint64_t{generation} << 32 | count;
  }
};

// One per receiving process, in memory that its neighbours map. All zero is an empty board. Sparse:
// what nobody uses is never touched.
struct alignas(4096) ArrivalBoard {
  static constexpr std::uint32_t kSeatsPerLine = kCacheLine / sizeof(std::uint64_t);
  static constexpr std::uint32_t kPairs = 1024;  // processes of a node that may share lines
  static constexpr std::uint32_t kLines = 8192;  // not shared: each is written by one sender
  static constexpr std::uint32_t kSeats = kLines * kSeatsPerLine;
  static constexpr std::uint32_t kNumbers = 65536;

  struct alignas(kCacheLine) Line {
    std::atomic<std::uint64_t> seats[kSeatsPerLine];
  };

  // The receiver's number of a line: that of the process it shares it with, or kPairs + n for the
  // n-th of `lines`.
  using LineNumber = std::uint32_t;
  static constexpr LineNumber kNumbersOfLines = kPairs + kLines;

  // A line that no sender has, or kLines if there is none. Any process.
  std::uint32_t take_line() noexcept;
  // The receiver has seen every word in it.
  void give_back_line(std::uint32_t line) noexcept;

  AttentionBits<kNumbersOfLines> attention;
  alignas(kCacheLine) std::atomic<std::uint64_t> taken[kLines / 64];  // a bit of each of `lines`
  std::atomic<std::uint32_t> used;  // of `lines`, so many have ever been taken: the first ones
  // What the receiver says of each number, in a word of its own choice.
  alignas(4096) std::atomic<std::uint64_t> states[kNumbers];
  alignas(4096) Line lines[kLines];
  alignas(4096) Line pairs[kPairs];  // shared with processes of a higher index, by that
};

// A line that two processes share. The first half of its seats is written by the one of lower
// index.
class ArrivalPair {
 public:
  static constexpr std::uint32_t kSeats = ArrivalBoard::kSeatsPerLine / 2;  // of each

  // Of this process and another, by their boards and indices among the processes of the node;
  // both below ArrivalBoard::kPairs, and different.
  ArrivalPair(ArrivalBoard& own_board, std::uint32_t own, ArrivalBoard& other_board,
              std::uint32_t other) noexcept
      : line_(own < other ? &own_board.pairs[other] : &other_board.pairs[own]),
        own_(own),
        other_(other) {}

  ArrivalBoard::Line& line() const noexcept { return *line_; }
  std::uint32_t own() const noexcept { return own_; }
  std::uint32_t other() const noexcept { return other_; }
  // The first of the seats that this process writes, and of those that the other does.
  std::uint32_t own_seat() const noexcept { return own_ < other_ ? 0 : kSeats; }
  std::uint32_t other_seat() const noexcept { return own_ < other_ ? kSeats : 0; }

 private:
  ArrivalBoard::Line* line_;
  std::uint32_t own_;
  std::uint32_t other_;
};

}  // namespace shmem
