#include "splitc/collective/round.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "am/collective/barrier.h"
#include "am/collective/payload.h"
#include "am/collective/payloads.h"
#include "am/core/bundle.h"
#include "am/job/job.h"
#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/group/groups.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// Most bytes of a part that travels by way of other nodes.
constexpr std::size_t kTransposed = 1024;
constexpr std::uint32_t kPreparation = ~std::uint32_t{0};  // a step
// From so many bytes of all processes on a barrier carries what may be written at once.
constexpr std::size_t kMuch = 16384;

std::string describe(const BoardHeader& header) {
  if (header.bytes == 0) return header.call;
  return std::string(header.call) + " of " + std::to_string(header.bytes) + " bytes";
}

// What is wrong about a process that shows `theirs` while this one shows `mine`.
std::string describe_difference(const BoardHeader& mine, const BoardHeader& theirs,
                                std::uint32_t proc) {
  const std::string who = "rank " + std::to_string(proc);
  if (mine.round != theirs.round) {
    return who + " is in another collective call than this process, which is in its number " +
           std::to_string(mine.round) + ", " + describe(mine) + "; " +
           (theirs.round == 0 ? "it has made none that shows anything"
                              : "the last of " + who + " that shows anything is its number " +
                                    std::to_string(theirs.round) + ", " + describe(theirs)) +
           "; one of the two has left out a collective call, perhaps a barrier(), which these "
           "numbers need not count";
  }
  const bool same = describe(mine) == describe(theirs);
  return who + " called " + describe(theirs) + " while this process called " + describe(mine) +
         (same ? ", with another root, length or type, or is in another part of it" : "");
}

// Before a call of the program that is not started only.
void check_order(Call call) {
  check_may_wait(call);
  Groups::before_call_of_job(call);
  if (!world().notified()) return;
  refuse(call,
         "called between barrier_notify() and barrier_wait(); no collective call may come between "
         "them");
}

}  // namespace

Round::Round(unsigned parity) noexcept : call_("barrier"), parity_(parity) {}
Round::Round(Round&& other) noexcept = default;
Round::~Round() = default;

Round::Round(Call call, std::uint64_t bytes, std::uint64_t kind, std::uint32_t step) : call_(call) {
  check_order(call);
  World& w = world();
  const std::uint64_t round = ++w.rounds();
  parity_ = round % 2;
  BoardHeader& header = w.board(my_proc(), parity_).header;
  header.round = round;
  header.bytes = bytes;
  header.kind = kind;
  header.step = step;
  std::strncpy(header.call, call.name, sizeof header.call - 1);
}

Round Round::latest() noexcept { return Round(world().rounds() % 2); }

std::byte* Round::mine(std::size_t bytes) noexcept {
  choose_board(bytes);
  return const_cast<std::byte*>(shown_by(my_proc()));
}

std::size_t Round::most_shown() noexcept {
  return std::max(Board::kBytes, world().large_board_bytes());
}

std::uint64_t Round::shown_offset() const noexcept {
  const World& w = world();
  return large_ ? w.large_board_offset(parity_) : w.board_offset(parity_) + sizeof(BoardHeader);
}

const std::byte* Round::shown_by(std::uint32_t near) const noexcept {
  return mapped(near, shown_offset());
}

// Of this node.
std::byte* Round::gathered() const noexcept {
  return world().large_board(world().leader(), parity_);
}

am::Shown Round::shown() const noexcept {
  return {world().board_offset(parity_), sizeof(BoardHeader), shown_offset()};
}

void Round::enter(am::Owned<am::Payload> payload, const Found& found) {
  found_ = found;
  payload_ = std::move(payload);
  if (world().job().barrier().enter(false, payload_.get())) return;
  refuse(call_,
         "an exception has left the collective call before this one, so this process is still in "
         "it; let what handlers throw leave the program");
}

void Round::enter_to_look(std::uint32_t first, std::uint32_t last, std::size_t at,
                          std::size_t bytes) {
  const Found found{.at = at, .first = first, .last = last, .bytes = bytes};
  if (!has_far_peers()) return enter(nullptr, found);
  enter(std::make_unique<am::SameCall>(world().job().barrier(), shown()), found);
}

void Round::wait() {
  World& w = world();
  am::Barrier& barrier = w.job().barrier();
  try {
    barrier.wait(w.bundle(), call_.name, call_.where);
  } catch (...) {
    barrier.forget_payload();
    throw;
  }
}

// On other nodes, or the leader of this one has carried something else.
bool Round::differs() const noexcept {
  const am::Barrier& barrier = world().job().barrier();
  return payload_ != nullptr && (barrier.differed() || !barrier.carried(payload_->digest()));
}

void Round::finish() {
  if (differs()) find_difference();
  check();
  if (found_.is_gathered) {
    gathered_ = gathered() + found_.at;
  } else {
    look(found_.first, found_.last, found_.at, found_.bytes);
  }
}

// Until the next notify: nobody passes two barriers meanwhile.
void Round::leave_payload() {
  static am::Owned<am::Payload> kept;
  kept = std::move(payload_);
}

std::size_t Round::most_gathered() noexcept {
  return has_far_peers() ? world().large_board_bytes() / procs() : most_shown();
}

void Round::prepare(Call call, std::uint64_t bytes, std::uint64_t kind, std::size_t carried) {
  World& w = world();
  if (!has_far_peers() || carried < kMuch) return;
  check_order(call);  // those that were started may prepare for much, too
  if (w.prepared()) return;
  struct Shared {
    am::link::RemoteKey key;
    std::uint64_t works;
  };
  Shared mine{};
  am::Owned<am::LeaderMemory> memory;
  if (am::Port& port = *w.router().port(); am::LeaderMemory::works(port)) {
    mine.works = 1;
    try {
      if (w.leader() == my_proc()) memory = std::make_unique<am::LeaderMemory>(port);
    } catch (const am::Error&) {
      mine.works = 0;  // no more memory may be registered
    }
    if (memory) mine.key = memory->key();
  }
  Round round(call, bytes, kind, kPreparation);
  std::memcpy(round.mine(sizeof mine), &mine, sizeof mine);
  round.gather(sizeof mine);
  w.prepared() = true;  // not before: the call may be refused, or not be that of all
  am::Barrier& barrier = w.job().barrier();
  std::vector<am::link::RemoteKey> keys(barrier.nodes().count());
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    Shared theirs;
    std::memcpy(&theirs, round.of(proc), sizeof theirs);
    if (theirs.works == 0) return;
    const std::uint32_t node = barrier.nodes().of(proc);
    if (barrier.nodes().ranks(node).front() == proc) keys[node] = theirs.key;
  }
  if (!memory) return;
  memory->introduce(std::move(keys));
  barrier.set(std::move(memory));
}

void Round::start_meet() { enter_to_look(0, 0, 0, 0); }

void Round::start_gather(std::size_t bytes, std::uint32_t first, std::uint32_t last) {
  choose_board(bytes);
  if (!has_far_peers() || bytes > most_gathered()) return enter_to_look(first, last, 0, bytes);
  enter(std::make_unique<am::Gathering>(world().job().barrier(), shown(), bytes, gathered()),
        {.is_gathered = true, .at = 0, .stride = bytes});
}

void Round::start_broadcast(std::size_t bytes, std::uint32_t root) {
  choose_board(bytes);
  World& w = world();
  if (!has_far_peers() || bytes > w.large_board_bytes()) {
    return enter_to_look(root, root + 1, 0, bytes);
  }
  Found found{.is_gathered = is_far(root)};
  if (!found.is_gathered) found = {.first = root, .last = root + 1, .bytes = bytes};
  enter(std::make_unique<am::Broadcast>(w.job().barrier(), shown(), bytes, root, gathered()),
        found);
}

// At the leader there is room for what all processes of its node get.
std::size_t Round::most_transposed() noexcept {
  World& w = world();
  const std::size_t most = w.job().barrier().nodes().most();
  return has_far_peers() ? w.large_board_bytes() / (most * procs()) : 0;
}

void Round::start_transpose(std::size_t bytes, bool by_nodes) {
  const std::size_t most = most_transposed();
  if (!has_far_peers() || bytes > (by_nodes ? most : std::min(kTransposed, most))) {
    return enter_to_look(0, procs(), my_proc() * bytes, bytes);
  }
  am::Barrier& barrier = world().job().barrier();
  const auto mine = barrier.nodes().ranks(barrier.nodes().mine());
  const auto index = static_cast<std::size_t>(std::ranges::find(mine, my_proc()) - mine.begin());
  enter(std::make_unique<am::Transposition>(barrier, shown(), bytes, gathered()),
        {.is_gathered = true, .at = index * procs() * bytes, .stride = bytes});
}

// After the barrier.
void Round::check() {
  if (has_far_peers() && world().job().barrier().differed()) find_difference();
  if constexpr (!am::kChecked) return;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    if (!is_far(proc)) check(proc);
  }
}

void Round::find_difference() {
  look(0, procs(), 0, 0);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) check(proc);
  refuse(
      call_,
      "another process is in another collective call; it has made more of them than this one, or "
      "fewer; a checked build names the first that differs");
}

// Says which bytes of their boards of() shall give, [at, at + bytes), of processes `first` to
// `last` - 1. Fetches those of other nodes, all at once.
void Round::look(std::uint32_t first, std::uint32_t last, std::size_t at, std::size_t bytes) {
  first_ = first;
  at_ = at;
  bytes_ = bytes;
  if (!has_far_peers()) return;
  constexpr std::size_t kHead = sizeof(BoardHeader);
  fetched_.resize((last - first) * stride());
  StartedAccesses started(call_);
  for (std::uint32_t proc = first; proc < last; ++proc) {
    if (!is_far(proc)) continue;
    std::byte* const to = &fetched_[place_of(proc)];
    // The header may stand before the first byte: in one piece with it.
    const std::uint64_t header = world().board_offset(parity_);
    const bool together = shown_offset() + at == header + kHead;
    started.add(fetch(proc, header, to, together ? kHead + bytes : kHead));
    if (!together) started.add(fetch(proc, shown_offset() + at, to + kHead, bytes));
  }
  started.wait();
}

handle Round::fetch(std::uint32_t proc, std::uint64_t offset, std::byte* to,
                    std::size_t bytes) const {
  return far_get(to, bits_of(proc, offset), bytes, call_);
}

const std::byte* Round::of(std::uint32_t proc) const {
  if (gathered_ != nullptr) return gathered_ + proc * found_.stride;
  check(proc);
  if (is_far(proc)) return &fetched_[place_of(proc)] + sizeof(BoardHeader);
  return shown_by(proc) + at_;
}

const BoardHeader& Round::header_of(std::uint32_t proc) const {
  if (is_far(proc)) return *reinterpret_cast<const BoardHeader*>(&fetched_[place_of(proc)]);
  return world().board(proc, parity_).header;
}

void Round::check(std::uint32_t proc) const {
  const BoardHeader& mine = header_of(my_proc());
  const BoardHeader& theirs = header_of(proc);
  if (std::memcmp(&mine, &theirs, sizeof mine) == 0) [[likely]]
    return;
  refuse({mine.call, call_.where},
         describe_difference(mine, theirs, proc) +
             "; all processes must make the same collective calls in the same order");
}

}  // namespace splitc::detail
