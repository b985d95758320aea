#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shmem/doorbell.h"
#include "shmem/fence.h"
#include "shmem/flag.h"

// How the senders of a node tell one process that something of a persistent kind has happened
// again: with one store of a word that only this sender writes.
//
// Each sender takes whole lines of the receiver's board and gives one word of them (a seat) to each
// thing it will tell about. The receiver looks at a line while something comes there, and no longer
// once nothing has come for a while: then its sender raises it again. So what is idle costs
// nothing, however much of it there is.

namespace shmem {

// What a sender's word says: which thing, which of those that have had that number, and how many
// times it has happened so far.
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
  static constexpr std::uint32_t kLines = 8192;
  static constexpr std::uint32_t kSeats = kLines * kSeatsPerLine;
  static constexpr std::uint32_t kNumbers = 65536;

  struct alignas(kCacheLine) Line {
    std::atomic<std::uint64_t> seats[kSeatsPerLine];
  };

  // Makes the receiver look at `line`. Any process.
  void raise(std::uint32_t line) noexcept;

  alignas(kCacheLine) std::atomic<std::uint64_t> raises;               // how often a bit was set
  alignas(kCacheLine) std::atomic<std::uint32_t> taken;                // lines, by senders
  alignas(kCacheLine) std::atomic<std::uint64_t> raised[kLines / 64];  // the receiver looks there
  // What the receiver says of each number, in a word of its own choice.
  alignas(4096) std::atomic<std::uint64_t> states[kNumbers];
  alignas(4096) Line lines[kLines];
};

// A sender's end of one seat.
//
// Thread rule: those of one process's seats on one board that share a line are used by one thread
// at a time.
class ArrivalSeat {
 public:
  ArrivalSeat() = default;
  ArrivalSeat(ArrivalBoard& board, std::uint32_t seat) noexcept
      : board_(&board),
        word_(&board.lines[seat / ArrivalBoard::kSeatsPerLine]
                   .seats[seat % ArrivalBoard::kSeatsPerLine]),
        seat_(seat) {}

  // What this thread wrote before is visible to who sees it.
  void tell(Arrival arrival, Fence fence) noexcept {
    // pairs with: Arrivals::poll()
    word_->store(arrival.word(), std::memory_order_release);
    fence.light();
    const std::uint32_t line = seat_ / ArrivalBoard::kSeatsPerLine;
    // pairs with: Arrivals::rest(), through Fence::heavy()
    const std::uint64_t raised = board_->raised[line / 64].load(std::memory_order_relaxed);
    if ((raised >> line % 64 & 1) == 0) board_->raise(line);
  }

  std::uint32_t seat() const noexcept { return seat_; }

 private:
  ArrivalBoard* board_ = nullptr;
  std::atomic<std::uint64_t>* word_ = nullptr;
  std::uint32_t seat_ = 0;
};

// The seats that one process has on one board: all on lines of its own.
class ArrivalSeats {
 public:
  explicit ArrivalSeats(ArrivalBoard& board) noexcept : board_(board) {}

  // Throws Error when all lines of the board are taken.
  ArrivalSeat take();
  void give_back(const ArrivalSeat& seat);

 private:
  ArrivalBoard& board_;
  std::vector<std::uint32_t> free_;
};

// The receiver's end.
//
// Thread rule: one thread at a time.
class Arrivals {
 public:
  // What was told on the board before is not told again.
  Arrivals(ArrivalBoard& board, Fence fence);

  // Calls `sink(arrival)` for every word that is another than at the last look; returns how many
  // there were. What the sink throws passes through; the rest is found by the next poll.
  template <class Sink>
  int poll(Sink&& sink) {
    // pairs with: ArrivalBoard::raise(); a raise seen late is seen by a later poll
    if (board_.raises.load(std::memory_order_relaxed) != raises_seen_) [[unlikely]]
      find_raised();
    int count = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) count += poll_line(active_[i], sink);
    if (count != 0) {
      empty_polls_ = 0;
    } else if (!active_.empty() && ++empty_polls_ == kSweep) [[unlikely]] {
      rest();
    }
    return count;
  }

  // Whether poll() would find something.
  bool has_arrival() noexcept;

  // How many lines poll() looks at.
  std::size_t watched() const noexcept { return active_.size(); }

 private:
  static constexpr std::uint32_t kSweep = 4096;  // empty polls before idle lines are left alone

  template <class Sink>
  int poll_line(std::uint32_t line, Sink& sink) {
    int count = 0;
    for (std::uint32_t i = 0; i < ArrivalBoard::kSeatsPerLine; ++i) {
      // pairs with: ArrivalSeat::tell()
      const std::uint64_t word = board_.lines[line].seats[i].load(std::memory_order_acquire);
      std::uint64_t& seen = seen_[line * ArrivalBoard::kSeatsPerLine + i];
      if (word == seen) [[likely]]
        continue;
      seen = word;
      ++count;
      sink(Arrival::of(word));
    }
    return count;
  }
  bool line_has_arrival(std::uint32_t line) const noexcept;
  void find_raised() noexcept;
  void rest() noexcept;

  // Constant after construction.
  ArrivalBoard& board_;
  const Fence fence_;
  // Owned by the receiving thread.
  std::vector<std::uint64_t> seen_;    // by seat
  std::vector<std::uint32_t> active_;  // lines to look at
  std::vector<std::uint64_t> known_;   // their bits, in the shape of ArrivalBoard::raised
  std::uint64_t raises_seen_ = 0;
  std::uint32_t empty_polls_ = 0;
};

}  // namespace shmem
