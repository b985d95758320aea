#include "splitc/collective/collective.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <string>

#include "splitc/collective/crossovers.h"
#include "splitc/collective/direct.h"

namespace splitc::detail {
namespace {

// Calls move(at, bytes, step) for pieces of at most `piece` bytes of `total`, at least once: also
// those who move nothing meet.
template <class Move>
void in_pieces(std::size_t total, std::size_t piece, Move move) {
  std::size_t at = 0;
  std::uint32_t step = 0;
  do {
    const std::size_t bytes = std::min(piece, total - at);
    move(at, bytes, step++);
    at += bytes;
  } while (at < total);
}

void move_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace

void bcast_bytes(void* data, std::size_t bytes, std::uint32_t root, std::uint64_t type, Call call) {
  check_root(root, call);
  const std::uint64_t kind = type << 24 | root;
  auto* const all = static_cast<std::byte*>(data);
  if (bytes > crossovers().broadcast && bcast_direct({all, bytes}, root, kind, call)) return;
  in_pieces(bytes, Round::most_shown(), [&](std::size_t at, std::size_t piece, std::uint32_t step) {
    Round round(call, bytes, kind, step);
    if (my_proc() == root) move_bytes(round.mine(piece), all + at, piece);
    round.broadcast(piece, root);
    if (my_proc() == root) return;
    move_bytes(all + at, round.of(root), piece);
  });
}

void gather_bytes(Call call, std::span<const std::byte> mine, std::byte* all, bool only_to_one,
                  std::uint64_t type) {
  if (mine.size() > crossovers().gather && gather_direct(mine, all, only_to_one, type, call))
    return;
  constexpr std::size_t kLeast = 4096;  // beyond most_gathered() pieces are fetched
  Round::prepare(call, mine.size(), type, procs() * std::min(mine.size(), Round::most_gathered()));
  in_pieces(mine.size(), std::max(kLeast, Round::most_gathered()),
            [&](std::size_t at, std::size_t piece, std::uint32_t step) {
              Round round(call, mine.size(), type, step);
              move_bytes(round.mine(piece), mine.data() + at, piece);
              const bool gets = !only_to_one || my_proc() == 0;
              round.gather(piece, 0, gets ? procs() : 0);
              if (!gets) return;
              for (std::uint32_t proc = 0; proc < procs(); ++proc) {
                move_bytes(all + proc * mine.size() + at, round.of(proc), piece);
              }
            });
}

void all_to_all_bytes(std::span<const std::byte> to, std::byte* from, std::uint64_t type,
                      Call call) {
  const std::size_t part = to.size() / procs();
  const std::size_t most = Round::most_shown() / procs();  // of each part on the board
  if (part > crossovers().all_to_all && all_to_all_direct(to, from, type, call)) return;
  if (most == 0) {
    refuse(call, std::to_string(procs()) + " processes are too many; at most " +
                     std::to_string(Round::most_shown()) + " can exchange this way");
  }
  const bool by_nodes = Round::most_transposed() != 0;
  const std::size_t largest = by_nodes ? Round::most_transposed() : most;
  if (by_nodes) Round::prepare(call, to.size(), type, procs() * std::min(part, largest));
  in_pieces(part, largest, [&](std::size_t at, std::size_t piece, std::uint32_t step) {
    Round round(call, to.size(), type, step);
    std::byte* const board = round.mine(piece * procs());
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      move_bytes(board + proc * piece, to.data() + proc * part + at, piece);
    }
    round.transpose(piece, by_nodes);
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      move_bytes(from + proc * part + at, round.of(proc), piece);
    }
  });
}

// Two barriers bring each process its slice of all, and then the sums of the others. Returns false,
// in all processes, and has done nothing, where the barriers cannot carry that.
bool reduce_by_slices(std::span<const std::byte> mine, std::byte* result, const Combine& combine,
                      Call call) {
  const std::size_t elements = mine.size() / combine.element;
  const std::size_t slice = (elements + procs() - 1) / procs() * combine.element;
  if (slice > std::min(Round::most_transposed(), Round::most_gathered())) return false;
  Round::prepare(call, mine.size(), combine.kind, procs() * slice);
  const auto part = [&](std::uint32_t proc) {
    const std::size_t at = std::min(mine.size(), proc * slice);
    return std::pair(at, std::min(slice, mine.size() - at));
  };
  std::vector<std::byte> sum(slice);
  std::exception_ptr thrown;
  {
    Round round(call, mine.size(), combine.kind);
    move_bytes(round.mine(slice * procs()), mine.data(), mine.size());
    round.transpose(slice, true);
    const std::size_t own = part(my_proc()).second;
    move_bytes(sum.data(), round.of(0), own);
    thrown =
        combine_all(combine, sum.data(), own, [&](std::uint32_t proc) { return round.of(proc); });
  }
  Round round(call, mine.size(), combine.kind, 1);
  move_bytes(round.mine(slice), sum.data(), slice);
  round.gather(slice);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const auto [at, bytes] = part(proc);
    move_bytes(result + at, round.of(proc), bytes);
  }
  if (thrown) std::rethrow_exception(thrown);
  return true;
}

// Every process combines everything of few bytes, and of many a part.
void reduce_bytes(std::span<const std::byte> mine, std::byte* result, const Combine& combine,
                  Call call) {
  const std::size_t few = crossovers().reduce;
  if (mine.size() > few && mine.size() <= crossovers().reduce_slices &&
      reduce_by_slices(mine, result, combine, call)) {
    return;
  }
  if (mine.size() > few && reduce_direct(mine, result, combine, call)) return;
  const std::size_t most = Round::most_gathered() / combine.element * combine.element;
  in_pieces(mine.size(), std::max(most, combine.element),
            [&](std::size_t at, std::size_t piece, std::uint32_t step) {
              Round round(call, mine.size(), combine.kind, step);
              move_bytes(round.mine(piece), mine.data() + at, piece);
              round.gather(piece);
              move_bytes(result + at, round.of(0), piece);
              for (std::uint32_t proc = 1; proc < procs(); ++proc) {
                combine(result + at, round.of(proc), piece / combine.element);
              }
            });
}

void check_root(std::uint32_t root, Call call) {
  if (root < procs()) return;
  refuse(call, "there is no process " + std::to_string(root) + " to be the root: the job has " +
                   std::to_string(procs()));
}

void check_gathered(std::size_t got, std::size_t each, Call call) {
  check_span(got, product(procs(), "processes", each, "elements", call), call);
}

void check_parts(std::size_t elements, Call call) {
  if (elements % procs() == 0) return;
  refuse(call, std::to_string(elements) + " elements are not " + std::to_string(procs()) +
                   " equal parts; pass a multiple");
}

}  // namespace splitc::detail
