#include "shmem/arrivals.h"

#include <algorithm>
#include <bit>
#include <string>

#include "shmem/error.h"

namespace shmem {

void ArrivalBoard::raise(LineNumber line) noexcept {
  // pairs with: Arrivals::find_raised(), which sees the bit when it has seen the count; and rest()
  raised[line / 64].fetch_or(std::uint64_t{1} << line % 64, std::memory_order_seq_cst);
  raises.fetch_add(1, std::memory_order_seq_cst);
}

ArrivalSeats::ArrivalSeats(ArrivalBoard& board, std::optional<ArrivalPair> pair)
    : board_(board), pair_(pair) {
  if (!pair) return;
  // Only if nobody has told anything there: the other may not have seen it yet.
  const auto* const first = &pair->line().seats[pair->own_seat()];
  const bool unused = std::all_of(first, first + ArrivalPair::kSeats, [](const auto& seat) {
    // pairs with: nothing; this process alone writes it
    return seat.load(std::memory_order_relaxed) == 0;
  });
  if (unused) add_seats(pair->own(), pair->own_seat(), ArrivalPair::kSeats);
}

void ArrivalSeats::add_seats(ArrivalBoard::LineNumber line, std::uint32_t first,
                             std::uint32_t count) {
  for (std::uint32_t i = count; i-- > 0;) {
    free_.push_back(line * ArrivalBoard::kSeatsPerLine + first + i);
  }
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
    add_seats(ArrivalBoard::kPairs + line, 0, ArrivalBoard::kSeatsPerLine);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  const ArrivalBoard::LineNumber line = number / ArrivalBoard::kSeatsPerLine;
  const bool own = line >= ArrivalBoard::kPairs;
  return {board_, own ? board_.lines[line - ArrivalBoard::kPairs] : pair_->line(), number};
}

void ArrivalSeats::give_back(const ArrivalSeat& seat) { free_.push_back(seat.seat()); }

Arrivals::Arrivals(ArrivalBoard& board, Fence fence, const std::vector<ArrivalPair>& pairs)
    : board_(board), fence_(fence), known_(ArrivalBoard::kNumbersOfLines / 64) {
  const auto remember = [this](ArrivalBoard::LineNumber line) {
    const Watched at = watched(line);
    for (std::uint32_t i = 0; i < at.count; ++i) {
      // pairs with: ArrivalSeat::tell()
      at.seen[i] = at.seats[i].load(std::memory_order_acquire);
    }
  };
  for (const ArrivalPair& pair : pairs) {
    if (pairs_.size() <= pair.other()) pairs_.resize(pair.other() + 1);
    pairs_[pair.other()] = pair;
    remember(pair.other());
  }
  // pairs with: nothing; who tells anything of this owner's was given it after this
  const std::uint32_t taken = board.taken.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < std::min(taken, ArrivalBoard::kLines); ++i) {
    remember(ArrivalBoard::kPairs + i);
  }
}

Arrivals::Watched Arrivals::watched(ArrivalBoard::LineNumber line) {
  std::uint64_t* const seen = seen_[line].data();  // stays where it is
  if (line >= ArrivalBoard::kPairs) {
    const auto& own = board_.lines[line - ArrivalBoard::kPairs];
    return {own.seats, seen, ArrivalBoard::kSeatsPerLine, line};
  }
  const ArrivalPair& pair = *pairs_.at(line);
  return {&pair.line().seats[pair.other_seat()], seen, ArrivalPair::kSeats, line};
}

bool Arrivals::has_arrival() noexcept {
  // pairs with: ArrivalBoard::raise()
  if (board_.raises.load(std::memory_order_acquire) != raises_seen_) find_raised();
  return std::any_of(active_.begin(), active_.end(),
                     [](const Watched& watched) { return has_arrival(watched); });
}

bool Arrivals::has_arrival(const Watched& watched) noexcept {
  for (std::uint32_t i = 0; i < watched.count; ++i) {
    // pairs with: ArrivalSeat::tell()
    if (watched.seats[i].load(std::memory_order_acquire) != watched.seen[i]) return true;
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
      active_.push_back(watched(word * 64 + static_cast<std::uint32_t>(std::countr_zero(fresh))));
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
  for (const Watched& watched : active_) {
    if (has_arrival(watched)) board_.raise(watched.line);
  }
  active_.clear();
}

}  // namespace shmem
