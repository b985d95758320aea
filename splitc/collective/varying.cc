// All to all, of parts of varying size.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "splitc/collective/collective.h"
#include "splitc/collective/exposed.h"

namespace splitc::detail {
namespace {

// A part in the memory of its sender.
struct Part {
  std::uint64_t at;
  std::uint64_t bytes;
};

// The parts of `to`, by receiver.
std::vector<Part> parts_of(std::span<const std::byte> to, std::span<const std::size_t> bytes,
                           Call call) {
  if (bytes.size() != procs()) {
    refuse(call, std::to_string(bytes.size()) + " counts for " + std::to_string(procs()) +
                     " processes; pass one for each");
  }
  std::vector<Part> parts;
  std::uint64_t at = 0;
  for (const std::size_t one : bytes) {
    parts.push_back({at, one});
    if (one > to.size() - at) at = to.size() + 1;
    if (at > to.size()) break;
    at += one;
  }
  if (at != to.size()) {
    refuse(call, "the counts do not add up to the size of the span, " + std::to_string(to.size()) +
                     " bytes");
  }
  return parts;
}

// By boards, a piece of every part at a time.
void move_in_pieces(std::span<const std::byte> to, std::span<const Part> mine,
                    std::span<const Part> theirs, Received& received, std::uint64_t type,
                    Call call) {
  const std::size_t most = std::max<std::size_t>(Round::most_shown() / procs(), 1);
  const auto larger = [](const Part& a, const Part& b) { return a.bytes < b.bytes; };
  const std::uint64_t longest =
      to_all(call, std::ranges::max_element(mine, larger)->bytes,
             [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  std::uint32_t step = 0;
  for (std::uint64_t at = 0; at < longest; at += most) {
    const auto piece_of = [&](const Part& part) {
      return part.bytes <= at ? 0 : std::min<std::size_t>(most, part.bytes - at);
    };
    Round round(call, 0, type, ++step);
    std::byte* const board = round.mine(most * procs());
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (const std::size_t bytes = piece_of(mine[proc]); bytes != 0) {
        std::memcpy(board + proc * most, to.data() + mine[proc].at + at, bytes);
      }
    }
    round.transpose(most);
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (const std::size_t bytes = piece_of(theirs[proc]); bytes != 0) {
        std::memcpy(received.from.data() + received.begin[proc] + at, round.of(proc), bytes);
      }
    }
  }
}

}  // namespace

Received all_to_all_varying_bytes(std::span<const std::byte> to, std::span<const std::size_t> bytes,
                                  std::uint64_t type, Call call) {
  const std::vector<Part> mine = parts_of(to, bytes, call);
  std::vector<Part> theirs(procs());
  all_to_all_bytes(std::as_bytes(std::span(mine)), reinterpret_cast<std::byte*>(theirs.data()),
                   type, call);
  Received received;
  received.begin.push_back(0);
  for (const Part& part : theirs) received.begin.push_back(received.begin.back() + part.bytes);
  received.from.resize(received.begin.back());
  Exposed shown(call, 0, type, to);
  if (!shown.works()) {
    move_in_pieces(to, mine, theirs, received, type, call);
    return received;
  }
  for (std::uint32_t i = 1; i <= procs(); ++i) {
    const std::uint32_t proc = (my_proc() + i) % procs();
    shown.read(proc, Exposed::kFirst, theirs[proc].at,
               {received.from.data() + received.begin[proc], theirs[proc].bytes});
  }
  shown.finish();
  return received;
}

}  // namespace splitc::detail
