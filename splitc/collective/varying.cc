// All to all, of parts of varying size.

#include "splitc/collective/varying.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "splitc/collective/exposed.h"

namespace splitc::detail {

void check_counts_of(std::span<const std::size_t> counts, std::size_t all, Call call) {
  if (counts.empty() || counts.size() == all) return;
  refuse(call, "there is room for " + std::to_string(counts.size()) +
                   " counts of what comes, and there are " + std::to_string(all) +
                   "; pass a span of as many");
}
void refuse_room(std::size_t room, std::size_t needed, Call call) {
  refuse(call, "there is room for " + std::to_string(room) + " elements, and " +
                   std::to_string(needed) +
                   " came, which are lost; pass a larger span, or the form without one");
}

Varying::Varying(std::span<const std::byte> to, std::span<const std::size_t> counts,
                 std::size_t element, std::uint64_t type, Call call)
    : to_(to), type_(type), call_(call), theirs_(procs()) {
  if (counts.size() != procs()) {
    refuse(call, std::to_string(counts.size()) + " counts for " + std::to_string(procs()) +
                     " processes; pass one for each");
  }
  mine_.reserve(procs());
  std::uint64_t at = 0;
  for (const std::size_t count : counts) {
    const std::uint64_t bytes = product(count, "elements", element, "bytes", call);
    mine_.push_back({at, bytes});
    at = bytes > to.size() - at ? to.size() + 1 : at + bytes;
    if (at > to.size()) break;
  }
  if (at != to.size()) {
    refuse(call, "the counts do not add up to the size of the span, " + std::to_string(to.size()) +
                     " bytes");
  }
  exchange_sizes();
  begin_.reserve(procs() + 1);
  begin_.push_back(0);
  for (const Part& part : theirs_) begin_.push_back(begin_.back() + part.bytes);
}

Varying::~Varying() = default;

// Of few processes with the round that exposes the parts: each sees the sizes of all parts.
void Varying::exchange_sizes() {
  const auto sizes = std::as_bytes(std::span(mine_));
  if (sizes.size() > Exposed::kBeside) {
    all_to_all_bytes(sizes, reinterpret_cast<std::byte*>(theirs_.data()), type_, call_);
    shown_ = std::make_unique<Exposed>(call_, 0, type_, to_);
    return;
  }
  shown_ = std::make_unique<Exposed>(call_, 0, type_, to_, std::span<const std::byte>(), sizes);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    std::memcpy(&theirs_[proc], &shown_->beside(proc)[my_proc() * sizeof(Part)], sizeof(Part));
  }
}

// By boards, a piece of every part at a time.
void Varying::move_in_pieces(std::byte* from) const {
  const std::size_t most = std::max<std::size_t>(Round::most_shown() / procs(), 1);
  const std::uint64_t longest =
      to_all(call_, std::ranges::max(mine_, {}, &Part::bytes).bytes,
             [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  std::uint32_t step = 0;
  for (std::uint64_t at = 0; at < longest; at += most) {
    const auto piece_of = [&](const Part& part) {
      return part.bytes <= at ? 0 : std::min<std::size_t>(most, part.bytes - at);
    };
    Round round(call_, 0, type_, ++step);
    std::byte* const board = round.mine(most * procs());
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (const std::size_t bytes = piece_of(mine_[proc]); bytes != 0) {
        std::memcpy(board + proc * most, to_.data() + mine_[proc].at + at, bytes);
      }
    }
    round.transpose(most);
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (const std::size_t bytes = piece_of(theirs_[proc]); bytes != 0) {
        std::memcpy(from + begin_[proc] + at, round.of(proc), bytes);
      }
    }
  }
}

void Varying::move(std::byte* from) const {
  if (!shown_->works()) return move_in_pieces(from);
  for (std::uint32_t i = 1; i <= procs(); ++i) {
    const std::uint32_t proc = (my_proc() + i) % procs();
    shown_->read(proc, Exposed::kFirst, theirs_[proc].at,
                 {from + begin_[proc], theirs_[proc].bytes});
  }
  shown_->finish();
}

}  // namespace splitc::detail
