#include "shmem/arrivals.h"

#include <algorithm>
#include <bit>
#include <string>

#include "shmem/error.h"

namespace shmem {

void ArrivalBoard::raise(std::uint32_t line) noexcept {
  // pairs with: Arrivals::find_raised(), which sees the bit when it has seen the count; and rest()
  raised[line / 64].fetch_or(std::uint64_t{1} << line % 64, std::memory_order_seq_cst);
  raises.fetch_add(1, std::memory_order_seq_cst);
}

ArrivalSeat ArrivalSeats::take() {
  if (free_.empty()) {
    // pairs with: nothing; the lines are told apart by the number alone
    const std::uint32_t line = board_.taken.fetch_add(1, std::memory_order_relaxed);
    if (line >= ArrivalBoard::kLines) {
      // pairs with: nothing
      board_.taken.fetch_sub(1, std::memory_order_relaxed);
      throw Error("all " + std::to_string(ArrivalBoard::kSeats) +
                  " places of that process for senders on its node are taken; close channels that "
                  "are no longer used");
    }
    for (std::uint32_t i = ArrivalBoard::kSeatsPerLine; i-- > 0;) {
      free_.push_back(line * ArrivalBoard::kSeatsPerLine + i);
    }
  }
  const ArrivalSeat seat(board_, free_.back());
  free_.pop_back();
  return seat;
}

void ArrivalSeats::give_back(const ArrivalSeat& seat) { free_.push_back(seat.seat()); }

Arrivals::Arrivals(ArrivalBoard& board, Fence fence)
    : board_(board), fence_(fence), known_(ArrivalBoard::kLines / 64) {
  // pairs with: nothing; who tells anything of this owner's was given it after this
  const std::uint32_t lines =
      std::min(board.taken.load(std::memory_order_relaxed), ArrivalBoard::kLines);
  for (std::uint32_t line = 0; line < lines; ++line) {
    for (const auto& seat : board.lines[line].seats) {
      // pairs with: ArrivalSeat::tell()
      seen_.push_back(seat.load(std::memory_order_acquire));
    }
  }
}

bool Arrivals::has_arrival() noexcept {
  // pairs with: ArrivalBoard::raise()
  if (board_.raises.load(std::memory_order_acquire) != raises_seen_) find_raised();
  return std::any_of(active_.begin(), active_.end(),
                     [this](std::uint32_t line) { return line_has_arrival(line); });
}

bool Arrivals::line_has_arrival(std::uint32_t line) const noexcept {
  for (std::uint32_t i = 0; i < ArrivalBoard::kSeatsPerLine; ++i) {
    // pairs with: ArrivalSeat::tell()
    const std::uint64_t word = board_.lines[line].seats[i].load(std::memory_order_acquire);
    if (word != seen_[line * ArrivalBoard::kSeatsPerLine + i]) return true;
  }
  return false;
}

void Arrivals::find_raised() noexcept {
  // pairs with: ArrivalBoard::raise()
  raises_seen_ = board_.raises.load(std::memory_order_acquire);
  for (std::uint32_t word = 0; word < known_.size(); ++word) {
    // pairs with: ArrivalBoard::raise()
    const std::uint64_t raised = board_.raised[word].load(std::memory_order_acquire);
    for (std::uint64_t fresh = raised & ~known_[word]; fresh != 0; fresh &= fresh - 1) {
      const std::uint32_t line = word * 64 + static_cast<std::uint32_t>(std::countr_zero(fresh));
      const std::size_t seats = (std::size_t{line} + 1) * ArrivalBoard::kSeatsPerLine;
      if (seen_.size() < seats) seen_.resize(seats);
      active_.push_back(line);
    }
    known_[word] |= raised;
  }
}

void Arrivals::rest() noexcept {
  empty_polls_ = 0;
  for (std::uint32_t word = 0; word < known_.size(); ++word) {
    if (known_[word] == 0) continue;
    // Only bits that are known: of others the raise is still to be counted.
    // pairs with: ArrivalBoard::raise()
    board_.raised[word].fetch_and(~known_[word], std::memory_order_seq_cst);
    known_[word] = 0;
  }
  fence_.heavy();  // from here on a sender either sees its bit gone, or we see its word
  for (const std::uint32_t line : active_) {
    if (line_has_arrival(line)) board_.raise(line);
  }
  active_.clear();
}

}  // namespace shmem
