#include "am/collective/payloads.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "am/collective/barrier.h"
#include "am/route/port.h"
#include "am/route/router.h"

namespace am {
namespace {

// Not 0, which stands for no payload.
std::uint64_t digest_of(std::span<const std::byte> header) noexcept {
  std::uint64_t digest = 0xcbf29ce484222325;
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < header.size(); at += sizeof word) {
    word = 0;
    std::memcpy(&word, header.data() + at, std::min(sizeof word, header.size() - at));
    digest = (digest ^ word) * 0x9e3779b97f4a7c15;
    digest ^= digest >> 29;
  }
  return digest | 1;
}

std::byte* copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
  return to + bytes;
}

constexpr std::uint32_t steps(int round) noexcept { return std::uint32_t{1} << round; }

}  // namespace

SameCall::SameCall(Barrier& barrier, const Shown& shown)
    : barrier_(barrier),
      router_(barrier.router()),
      nodes_(barrier.nodes()),
      shown_(shown),
      digest_(digest_of({header_of(barrier.router().rank()), shown.header_bytes})) {}

const std::byte* SameCall::header_of(Rank near) const noexcept {
  return router_.peer(near).segment + shown_.header;
}

const std::byte* SameCall::bytes_of(Rank near) const noexcept {
  return router_.peer(near).segment + shown_.bytes;
}

std::uint32_t SameCall::receiver(int round) const noexcept {
  return nodes_.after(nodes_.mine(), steps(round));
}

void SameCall::take_memory(std::size_t bytes) {
  LeaderMemory* const shared = barrier_.leader_memory();
  shared_ = shared != nullptr && bytes <= LeaderMemory::kHalf;
  if (shared_) {
    memory_ = shared->half(barrier_.count()).data();
  } else {
    std::vector<std::byte>& own = barrier_.memory();
    if (own.size() < bytes) own.resize(bytes);
    memory_ = own.data();
  }
}

std::optional<link::RemoteKey> SameCall::memory_of(std::uint32_t node,
                                                   std::size_t at) const noexcept {
  if (!shared_) return std::nullopt;
  return barrier_.leader_memory()->half_of(node, barrier_.count()) + at;
}

bool SameCall::begin() {
  const std::byte* const mine = header_of(router_.rank());
  return std::ranges::all_of(nodes_.ranks(nodes_.mine()), [&](Rank rank) {
    return std::memcmp(header_of(rank), mine, shown_.header_bytes) == 0;
  });
}

// --- Block d in memory() is that of the node d steps before this one.

Gathering::Gathering(Barrier& barrier, const Shown& shown, std::size_t bytes, std::byte* to)
    : SameCall(barrier, shown), bytes_(bytes), to_(to) {}

// That travel in `round`.
std::uint32_t Gathering::blocks(int round) const noexcept {
  return std::min(steps(round), nodes().count() - steps(round));
}

// Of the first `blocks` blocks at `node`.
std::size_t Gathering::size(std::uint32_t node, std::uint32_t blocks) const noexcept {
  std::size_t processes = 0;
  for (std::uint32_t d = 0; d < blocks; ++d) {
    processes += nodes().ranks(nodes().before(node, d)).size();
  }
  return processes * bytes_;
}

bool Gathering::begin() {
  take_memory(nodes().processes() * bytes_);
  std::byte* at = memory();
  for (const Rank rank : nodes().ranks(nodes().mine())) at = copy(at, bytes_of(rank), bytes_);
  return SameCall::begin();
}

std::span<const std::byte> Gathering::outgoing(int round) {
  return {memory(), size(nodes().mine(), blocks(round))};
}

std::optional<link::RemoteKey> Gathering::place(int round) const {
  return memory_of(receiver(round), size(receiver(round), steps(round)));
}

std::size_t Gathering::incoming_bytes(int round) const {
  const std::uint32_t mine = nodes().mine();
  return size(mine, steps(round) + blocks(round)) - size(mine, steps(round));
}

void Gathering::incoming(int round, std::span<const std::byte> data) {
  copy(memory() + size(nodes().mine(), steps(round)), data.data(), data.size());
}

void Gathering::end() {
  const std::byte* at = memory();
  for (std::uint32_t d = 0; d < nodes().count(); ++d) {
    for (const Rank rank : nodes().ranks(nodes().before(nodes().mine(), d))) {
      copy(to_ + rank * bytes_, at, bytes_);
      at += bytes_;
    }
  }
}

// --- After round k those have them that are less than 2^(k+1) nodes after the root's.

Broadcast::Broadcast(Barrier& barrier, const Shown& shown, std::size_t bytes, Rank root,
                     std::byte* to)
    : SameCall(barrier, shown), bytes_(bytes), root_(root), to_(to) {
  distance_ = (nodes().mine() + nodes().count() - nodes().of(root)) % nodes().count();
}

bool Broadcast::begin() {
  const std::uint64_t bytes = router().segment_bytes();
  const std::uint64_t offset = router().segment_offset(to_);
  writes_ = offset < bytes && bytes_ <= bytes - offset && LeaderMemory::works(*router().port());
  // The network writes from this process's own memory.
  if (writes_ && distance_ == 0 && root_ != router().rank()) copy(to_, bytes_of(root_), bytes_);
  return SameCall::begin();
}

std::span<const std::byte> Broadcast::outgoing(int round) {
  if (distance_ >= steps(round) || distance_ + steps(round) >= nodes().count()) return {};
  const bool shows = distance_ == 0 && (root_ == router().rank() || !writes_);
  return {shows ? bytes_of(root_) : to_, bytes_};
}

std::optional<link::RemoteKey> Broadcast::place(int /*round*/) const {
  if (!writes_) return std::nullopt;
  return link::RemoteKey::in_segment(router().segment_offset(to_));
}

std::size_t Broadcast::incoming_bytes(int round) const {
  return distance_ >= steps(round) && distance_ - steps(round) < steps(round) ? bytes_ : 0;
}

void Broadcast::incoming(int /*round*/, std::span<const std::byte> data) {
  copy(to_, data.data(), data.size());
}

// --- Block d holds the parts that go d nodes far: at first from this node, at the end to it.

Transposition::Transposition(Barrier& barrier, const Shown& shown, std::size_t bytes, std::byte* to)
    : SameCall(barrier, shown),
      bytes_(bytes),
      to_(to),
      stride_(nodes().most() * nodes().most() * bytes),
      rounds_(std::bit_width(nodes().count() - 1)) {}

// Every second node at most.
std::size_t Transposition::most_of_round() const noexcept {
  return (nodes().count() + 1) / 2 * stride_;
}

std::size_t Transposition::leaving(int round) const noexcept {
  return nodes().count() * stride_ + static_cast<std::size_t>(round) * most_of_round();
}

std::size_t Transposition::coming(int round) const noexcept { return leaving(rounds_ + round); }

// Of the parts that go `distance` nodes from `origin`.
std::size_t Transposition::size(std::uint32_t origin, std::uint32_t distance) const noexcept {
  return nodes().ranks(origin).size() * nodes().ranks(nodes().after(origin, distance)).size() *
         bytes_;
}

// Calls visit(block, bytes) of those that travel in `round`, of whose distance the steps in the
// mask `travelled` lie behind them.
template <class Visit>
void Transposition::for_travellers(int round, std::uint32_t travelled, const Visit& visit) const {
  for (std::uint32_t d = 0; d < nodes().count(); ++d) {
    if ((d & steps(round)) == 0) continue;
    visit(block(d), size(nodes().before(nodes().mine(), d & travelled), d));
  }
}

bool Transposition::begin() {
  take_memory(coming(rounds_));
  for (std::uint32_t d = 0; d < nodes().count(); ++d) {
    std::byte* at = block(d);
    for (const Rank to : nodes().ranks(nodes().after(nodes().mine(), d))) {
      for (const Rank from : nodes().ranks(nodes().mine())) {
        at = copy(at, bytes_of(from) + to * bytes_, bytes_);
      }
    }
  }
  return SameCall::begin();
}

std::span<const std::byte> Transposition::outgoing(int round) {
  std::byte* const begin = memory() + leaving(round);
  std::byte* at = begin;
  for_travellers(round, steps(round) - 1,
                 [&](const std::byte* one, std::size_t bytes) { at = copy(at, one, bytes); });
  return {begin, at};
}

std::optional<link::RemoteKey> Transposition::place(int round) const {
  return memory_of(receiver(round), coming(round));
}

std::size_t Transposition::incoming_bytes(int round) const {
  std::size_t sum = 0;
  for_travellers(round, steps(round + 1) - 1,
                 [&](const std::byte*, std::size_t bytes) { sum += bytes; });
  return sum;
}

void Transposition::incoming(int round, std::span<const std::byte> data) {
  const std::byte* at = data.data();
  for_travellers(round, steps(round + 1) - 1, [&](std::byte* one, std::size_t bytes) {
    copy(one, at, bytes);
    at += bytes;
  });
}

void Transposition::written(int round) {
  incoming(round, {memory() + coming(round), incoming_bytes(round)});
}

void Transposition::end() {
  const auto mine = nodes().ranks(nodes().mine());
  for (std::uint32_t d = 0; d < nodes().count(); ++d) {
    const std::byte* at = block(d);
    for (std::size_t to = 0; to < mine.size(); ++to) {
      for (const Rank from : nodes().ranks(nodes().before(nodes().mine(), d))) {
        copy(to_ + (to * nodes().processes() + from) * bytes_, at, bytes_);
        at += bytes_;
      }
    }
  }
}

}  // namespace am
