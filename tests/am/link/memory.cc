#include "tests/am/link/memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

namespace am::conformance {
namespace {

using ::test::bundle;
using ::test::job;

std::optional<RemoteMemory> remote;
std::vector<int> times_done;  // by ticket
std::vector<std::uint32_t> done_tickets;

void note(std::uint32_t ticket) {
  ++times_done.at(ticket);
  done_tickets.push_back(ticket);
}

bool near(Rank rank) { return job().router().is_near(rank); }
std::byte* at(Rank rank, std::uint64_t offset) {
  return job().router().peer(rank).segment + offset;
}
template <class Word>
void copy_word(std::byte* to, const std::byte* from) {
  auto* const source = reinterpret_cast<Word*>(const_cast<std::byte*>(from));
  std::atomic_ref(*reinterpret_cast<Word*>(to))
      .store(std::atomic_ref(*source).load(std::memory_order_relaxed), std::memory_order_relaxed);
}

// Words in one piece, as RemoteMemory promises; memcpy does not.
void copy_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if (bytes == 0) return;
  if (places % bytes != 0 || bytes > 8) {
    std::memcpy(to, from, bytes);
    return;
  }
  switch (bytes) {
    case 2: return copy_word<std::uint16_t>(to, from);
    case 4: return copy_word<std::uint32_t>(to, from);
    case 8: return copy_word<std::uint64_t>(to, from);
    default: std::memcpy(to, from, bytes);
  }
}

std::atomic_ref<std::uint64_t> counter(Rank rank, Rank writer) {
  return std::atomic_ref(
      *reinterpret_cast<std::uint64_t*>(at(rank, kCounters + sizeof(std::uint64_t) * writer)));
}

}  // namespace

void Memory::SetUpTestSuite() { remote.emplace(bundle(), &note); }
void Memory::TearDownTestSuite() { remote.reset(); }

void Memory::begin(std::size_t tickets) {
  times_done.assign(tickets, 0);
  done_tickets.clear();
}

std::vector<std::uint32_t>& Memory::done() { return done_tickets; }
bool Memory::all_done() { return done_tickets.size() == times_done.size(); }

void Memory::wait_for_all() {
  bundle().wait_until(&all_done);
  EXPECT_EQ(std::ranges::count(times_done, 1), static_cast<std::ptrdiff_t>(times_done.size()));
}

void Memory::get(Rank rank, std::uint64_t offset, std::span<std::byte> to, std::uint32_t ticket) {
  if (!near(rank)) return remote->get(rank, offset, to, ticket, "get");
  copy_whole(to.data(), at(rank, offset), to.size());
  note(ticket);
}

void Memory::put(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                 std::uint32_t ticket) {
  if (!near(rank)) return remote->put(rank, offset, from, ticket, "put");
  copy_whole(at(rank, offset), from.data(), from.size());
  note(ticket);
}

void Memory::store(Rank rank, std::uint64_t offset, std::span<const std::byte> from) {
  const std::uint64_t place = job().rank() * kStride + offset;
  const std::uint64_t word = kCounters + sizeof(std::uint64_t) * job().rank();
  std::uint64_t sent = 0;
  if (!near(rank)) return remote->store(rank, place, from, word, "store", sent);
  if (!from.empty()) std::memcpy(at(rank, place), from.data(), from.size());
  // pairs with: Memory::stored_by
  counter(rank, job().rank()).fetch_add(from.size(), std::memory_order_release);
}

std::uint64_t Memory::stored_by(Rank writer) {
  // pairs with: Memory::store, OneSided::count
  return counter(job().rank(), writer).load(std::memory_order_acquire);
}

void Memory::reset_counters() {
  for (Rank writer = 0; writer < job().size(); ++writer) {
    counter(job().rank(), writer).store(0, std::memory_order_relaxed);
  }
}

std::byte* Memory::mine(std::uint64_t offset) { return job().router().segment() + offset; }

Oracle Memory::background(Rank owner) { return {Purpose::kBackground, owner, owner, 0}; }

void Memory::paint(std::uint64_t offset, std::uint64_t bytes) {
  background(job().rank()).fill({mine(offset), bytes}, offset);
}

Pieces::Pieces(std::vector<std::size_t> given)
    : sizes(std::move(given)),
      offsets(places(sizes, 64)),
      end(offsets.back() + sizes.back() + 64),
      bytes(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0})) {
  static std::uint32_t numbers = 0;
  first_number = std::exchange(numbers, numbers + static_cast<std::uint32_t>(sizes.size()));
  EXPECT_LE(end, kStride);
}

void Pieces::expect_from(Rank writer) const {
  const Rank me = job().rank();
  std::vector<std::byte> expected(end);
  Oracle(Purpose::kBackground, me, me, 0).fill(expected, writer * kStride);
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    oracle(writer, me, i).fill({expected.data() + offsets[i], sizes[i]});
  }
  const std::byte* const got = at(me, writer * kStride);
  if (std::memcmp(expected.data(), got, end) == 0) return;
  const auto wrong = std::mismatch(expected.begin(), expected.end(), got).first;
  const auto byte = static_cast<std::uint64_t>(wrong - expected.begin());
  const auto piece = std::ranges::upper_bound(offsets, byte) - offsets.begin() - 1;
  ADD_FAILURE() << "what rank " << writer << " wrote differs from byte " << byte
                << " of its area, after the beginning of piece " << piece;
}

std::vector<std::size_t> all_sizes() {
  std::vector<std::size_t> sizes = small_sizes();
  for (const std::size_t size : edge_sizes()) sizes.push_back(size);
  return sizes;
}

}  // namespace am::conformance
