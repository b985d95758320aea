#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "shmem/arrival_board.h"
#include "shmem/attention.h"
#include "shmem/doorbell.h"

// The two ends of notifications: how they work is in shmem/arrival_board.h.

namespace shmem {

// A sender's end of one seat.
//
// Thread rule: one thread at a time, but seats that share a line may be used by several at once.
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

  // Calls `sink(arrival)` for words that have changed since the last poll; returns how many there
  // were. Of one that is passed over, a later poll calls it: of n lines on which something came
  // lately, after at most n polls. What the sink throws passes through; the rest is delivered by
  // the next poll.
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

  // Of 10,000 channels on 1,250 lines each poll looked at all of them, which took 10 us.
  static constexpr std::uint32_t kVainLines = 2;

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
  Attention<ArrivalBoard::kNumbersOfLines, Watched, kVainLines> attention_;
};

}  // namespace shmem
