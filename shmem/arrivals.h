#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "shmem/attention.h"
#include "shmem/fence.h"
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

// A sender's end of one seat.
//
// Thread rule: those of one process's seats on one board that share a line are used by one thread
// at a time.
class ArrivalSeat {
 public:
  ArrivalSeat() = default;
  // `number`: of all seats of the receiver, kSeatsPerLine to a line.
  ArrivalSeat(ArrivalBoard& board, ArrivalBoard::Line& line, std::uint32_t number) noexcept
      : board_(&board), word_(&line.seats[number % ArrivalBoard::kSeatsPerLine]), number_(number) {}

  // Stores the word, and activates its line if need be. A release: what this thread wrote before is
  // visible to the receiver that reads it.
  void announce(Arrival arrival, Fence fence) noexcept {
    // pairs with: Arrivals::poll()
    word_->store(arrival.word(), std::memory_order_release);
    fence.light();
    const ArrivalBoard::LineNumber line = number_ / ArrivalBoard::kSeatsPerLine;
    // pairs with: Attention::sweep(), through Fence::heavy()
    if (!board_->attention.raised(line)) [[unlikely]]
      board_->attention.raise(line);
  }

  std::uint32_t seat() const noexcept { return number_; }

 private:
  ArrivalBoard* board_ = nullptr;  // the receiver's
  std::atomic<std::uint64_t>* word_ = nullptr;
  std::uint32_t number_ = 0;
};

// The seats by which one process notifies another: those of the line they share, if they do, then
// lines of its own.
class ArrivalSeats {
 public:
  explicit ArrivalSeats(ArrivalBoard& board, std::optional<ArrivalPair> pair = std::nullopt);

  // Throws Error when all lines of the board are taken.
  ArrivalSeat take();
  // The receiver has seen its last word, or need not see it any more.
  void give_back(const ArrivalSeat& seat);

 private:
  ArrivalBoard& board_;
  const std::optional<ArrivalPair> pair_;
  std::map<ArrivalBoard::LineNumber, std::uint32_t> free_;  // lines with free seats, a bit each
};

// The receiver's end.
//
// Thread rule: one thread at a time.
class Arrivals {
 public:
  // Notifications that were on the board before are not delivered again. `pairs`: of all processes
  // that this one shares lines with.
  Arrivals(ArrivalBoard& board, Fence fence, const std::vector<ArrivalPair>& pairs = {});

  // Calls `sink(arrival)` for every word that has changed since the last poll; returns how many
  // there were. What the sink throws passes through; the rest is delivered by the next poll.
  template <class Sink>
  int poll(Sink&& sink) {
    return attention_.poll([this](ArrivalBoard::LineNumber line) { return watched(line); },
                           [&](const Watched& watched) { return poll_line(watched, sink); });
  }

  // Whether poll() would find something.
  bool has_arrival() noexcept;

  // How many lines poll() loads.
  std::size_t watched() const noexcept { return attention_.active(); }

 private:
  // Where to look: some seats of a line.
  struct Watched {
    const std::atomic<std::uint64_t>* seats;
    std::uint64_t* seen;  // what they said at the last look
    std::uint32_t count;
  };

  template <class Sink>
  int poll_line(Watched watched, Sink& sink) {
    int count = 0;
    for (std::uint32_t i = 0; i < watched.count; ++i) {
      // pairs with: ArrivalSeat::announce()
      const std::uint64_t word = watched.seats[i].load(std::memory_order_acquire);
      if (word == watched.seen[i]) [[likely]]
        continue;
      watched.seen[i] = word;
      ++count;
      sink(Arrival::of(word));
    }
    return count;
  }
  Watched watched(ArrivalBoard::LineNumber line);
  static bool has_arrival(const Watched& watched) noexcept;

  // Constant after construction.
  ArrivalBoard& board_;
  std::vector<std::optional<ArrivalPair>> pairs_;  // by the other's index
  // Owned by the receiving thread.
  using Seen = std::array<std::uint64_t, ArrivalBoard::kSeatsPerLine>;
  std::unordered_map<ArrivalBoard::LineNumber, Seen> seen_;  // of lines that were ever raised
  Attention<ArrivalBoard::kNumbersOfLines, Watched> attention_;
};

}  // namespace shmem
