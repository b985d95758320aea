#include "splitc/board.h"

#include <cstring>
#include <string>

#include "splitc/world.h"

namespace splitc::detail {
namespace {

std::string describe(const BoardHeader& header) {
  return std::string(header.call) + " of " + std::to_string(header.bytes) + " bytes";
}

// What is wrong about a process that shows `theirs` while this one shows `mine`.
std::string describe_difference(const BoardHeader& mine, const BoardHeader& theirs,
                                std::uint32_t proc) {
  const std::string who = "rank " + std::to_string(proc);
  if (mine.round != theirs.round) {
    return who + " is not in collective call number " + std::to_string(mine.round) + ", " +
           describe(mine) + "; the last it made was number " + std::to_string(theirs.round) + ", " +
           (theirs.round == 0 ? "none" : describe(theirs)) + ", and perhaps barrier()";
  }
  const bool same = describe(mine) == describe(theirs);
  return who + " called " + describe(theirs) + " while this process called " + describe(mine) +
         (same ? ", with another root, length or type" : "");
}

}  // namespace

Round::Round(const char* call, std::uint64_t bytes, std::uint64_t kind) {
  World& w = world();
  if (w.notified()) {
    refuse(call,
           "called between barrier_notify() and barrier_wait(); no collective call may come "
           "between them");
  }
  const std::uint64_t round = ++w.rounds();
  parity_ = round % 2;
  BoardHeader& header = w.board(my_proc(), parity_).header;
  header.round = round;
  header.bytes = bytes;
  header.kind = kind;
  std::strncpy(header.call, call, sizeof header.call - 1);
}

Round Round::latest() noexcept { return Round(world().rounds() % 2); }

std::byte* Round::mine() noexcept { return world().board(my_proc(), parity_).data; }

void Round::meet() {
  World& w = world();
  w.job().barrier(w.bundle());
  if constexpr (am::kChecked) check();
}

void Round::check() {
  for (std::uint32_t proc = 0; proc < procs(); ++proc) check(proc);
}

const std::byte* Round::of(std::uint32_t proc) const {
  check(proc);
  return world().board(proc, parity_).data;
}

void Round::check(std::uint32_t proc) const {
  const BoardHeader& mine = world().board(my_proc(), parity_).header;
  const BoardHeader& theirs = world().board(proc, parity_).header;
  if (std::memcmp(&mine, &theirs, sizeof mine) == 0) [[likely]]
    return;
  refuse(mine.call, describe_difference(mine, theirs, proc) +
                        "; all processes must make the same collective calls in the same order");
}

}  // namespace splitc::detail
