#include "shmem/arrivals.h"

#include <algorithm>
#include <bit>
#include <string>

#include "shmem/region.h"

namespace shmem {

namespace {

constexpr std::uint32_t kWholeLine = (1u << ArrivalBoard::kSeatsPerLine) - 1;

}  // namespace

std::uint32_t ArrivalBoard::take_line() noexcept {
  for (std::uint32_t word = 0; word < kLines / 64; ++word) {
    // No partner: a guess, which the exchange below checks.
    std::uint64_t bits = taken[word].load(std::memory_order_relaxed);
    while (~bits != 0) {
      const auto free = static_cast<std::uint32_t>(std::countr_one(bits));
      const std::uint64_t bit = std::uint64_t{1} << free;
      // pairs with: give_back_line()
      if (!taken[word].compare_exchange_weak(bits, bits | bit, std::memory_order_acquire)) continue;
      const std::uint32_t line = word * 64 + free;
      // No partner: an Arrivals that does not count the line yet would find no notification in it.
      std::uint32_t before = used.load(std::memory_order_relaxed);
      while (before <= line && !used.compare_exchange_weak(before, line + 1)) {
      }
      return line;
    }
  }
  return kLines;
}

void ArrivalBoard::give_back_line(std::uint32_t line) noexcept {
  // pairs with: take_line()
  taken[line / 64].fetch_and(~(std::uint64_t{1} << line % 64), std::memory_order_release);
}

ArrivalSeats::ArrivalSeats(ArrivalBoard& board, std::optional<ArrivalPair> pair)
    : board_(board), pair_(pair) {
  if (!pair) return;
  // Only if these seats were never written: the other may not have seen the last notification yet.
  const auto* const first = &pair->line().seats[pair->own_seat()];
  const bool unused = std::all_of(first, first + ArrivalPair::kSeats, [](const auto& seat) {
    // pairs with: nothing; this process alone writes it
    return seat.load(std::memory_order_relaxed) == 0;
  });
  constexpr std::uint32_t kHalf = (1u << ArrivalPair::kSeats) - 1;
  if (unused) free_[pair->own()] = kHalf << pair->own_seat();
}

ArrivalSeat ArrivalSeats::take() {
  if (free_.empty()) {
    const std::uint32_t line = board_.take_line();
    if (line == ArrivalBoard::kLines) {
      throw Error("all " + std::to_string(ArrivalBoard::kSeats) +
                  " places of that process for senders on its node are taken; close channels that "
                  "are no longer used");
    }
    free_[ArrivalBoard::kPairs + line] = kWholeLine;
  }
  const auto [line, seats] = *free_.begin();
  const auto seat = static_cast<std::uint32_t>(std::countr_zero(seats));
  if ((free_[line] = seats & (seats - 1)) == 0) free_.erase(line);
  const bool own = line >= ArrivalBoard::kPairs;
  return {board_, own ? board_.lines[line - ArrivalBoard::kPairs] : pair_->line(),
          line * ArrivalBoard::kSeatsPerLine + seat};
}

void ArrivalSeats::give_back(const ArrivalSeat& seat) {
  const ArrivalBoard::LineNumber line = seat.seat() / ArrivalBoard::kSeatsPerLine;
  std::uint32_t& free = free_[line];
  free |= 1u << seat.seat() % ArrivalBoard::kSeatsPerLine;
  if (free != kWholeLine || free_.size() == 1) return;  // one is kept, for what comes next
  free_.erase(line);
  board_.give_back_line(line - ArrivalBoard::kPairs);
}

Arrivals::Arrivals(ArrivalBoard& board, Fence fence, const std::vector<ArrivalPair>& pairs)
    : board_(board), attention_(board.attention, fence) {
  const auto remember = [this](ArrivalBoard::LineNumber line) {
    const Watched at = watched(line);
    for (std::uint32_t i = 0; i < at.count; ++i) {
      // pairs with: ArrivalSeat::announce()
      at.seen[i] = at.seats[i].load(std::memory_order_acquire);
    }
  };
  for (const ArrivalPair& pair : pairs) {
    if (pairs_.size() <= pair.other()) pairs_.resize(pair.other() + 1);
    pairs_[pair.other()] = pair;
    remember(pair.other());
  }
  // No partner: a sender notifies this owner only after it has received a handle, which is made
  // later; what is on the board already was meant for an owner that has ended.
  const std::uint32_t used = board.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) remember(ArrivalBoard::kPairs + i);
}

Arrivals::Watched Arrivals::watched(ArrivalBoard::LineNumber line) {
  std::uint64_t* const seen = seen_[line].data();  // stays where it is
  if (line >= ArrivalBoard::kPairs) {
    const auto& own = board_.lines[line - ArrivalBoard::kPairs];
    return {own.seats, seen, ArrivalBoard::kSeatsPerLine};
  }
  const ArrivalPair& pair = *pairs_.at(line);
  return {&pair.line().seats[pair.other_seat()], seen, ArrivalPair::kSeats};
}

bool Arrivals::has_arrival() noexcept {
  return attention_.any([this](ArrivalBoard::LineNumber line) { return watched(line); },
                        [](const Watched& watched) { return has_arrival(watched); });
}

bool Arrivals::has_arrival(const Watched& watched) noexcept {
  for (std::uint32_t i = 0; i < watched.count; ++i) {
    // pairs with: ArrivalSeat::announce()
    if (watched.seats[i].load(std::memory_order_acquire) != watched.seen[i]) return true;
  }
  return false;
}

}  // namespace shmem
