#include "am/far/one_sided.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "am/route/router.h"
#include "am/types/copy_whole.h"

namespace am {
namespace {

using link::Access;
using link::SmallStore;
using link::Stores;
using link::Type;

constexpr std::size_t kSlots = 1 << 16;  // accesses by messages that packets can name

// One access packet with `data` behind it. The commit comes next.
void claim(link::Link& link, Rank to, Type type, std::uint64_t offset, std::uint64_t number,
           std::span<const std::byte> data) {
  const auto bytes = static_cast<std::uint32_t>(data.size());
  const std::uint32_t packet_bytes = sizeof(Access) + link::rounded(bytes);
  const Access packet{link::make_header(type, packet_bytes, bytes), offset, number};
  std::byte* const at = link.claim(to, packet_bytes);
  std::memcpy(at, &packet, sizeof packet);
  copy_whole(at + sizeof packet, data.data(), bytes);
}
void send(link::Link& link, Rank to, Type type, std::uint64_t offset, std::uint64_t number,
          std::span<const std::byte> data) {
  claim(link, to, type, offset, number, data);
  link.commit(to);
}

// Sends `data` in packets of at most link::kMaxData that others follow, down to `left` bytes, which
// it returns; `offset` is then theirs.
std::span<const std::byte> send_down_to(std::size_t left, link::Link& link, Rank to, Type type,
                                        std::uint64_t& offset, std::uint64_t number,
                                        std::span<const std::byte> data) {
  while (data.size() > left) {
    const auto piece = data.first(std::min<std::size_t>(data.size(), link::kMaxData));
    claim(link, to, type, offset, number, piece);
    link.commit(to, link::Next::kSoon);
    offset += piece.size();
    data = data.subspan(piece.size());
  }
  return data;
}

const std::byte* data_of(const Access& packet) noexcept {
  return reinterpret_cast<const std::byte*>(&packet + 1);
}

bool is_small(std::span<const std::byte> data) noexcept {
  return !data.empty() && data.size() <= OneSided::kSmall;
}
// What an access by messages is called in packets: which of accesses_, and how often it was used.
constexpr std::uint64_t name_of(std::uint64_t generation, std::uint32_t slot) noexcept {
  return generation << 16 | slot;
}
std::uint32_t slot_of(const Access& packet) noexcept {
  return static_cast<std::uint32_t>(packet.number & 0xffff);
}

bool whole(const Access& packet, std::uint32_t data_bytes) noexcept {
  return packet.head.bytes == sizeof packet + link::rounded(data_bytes);
}

// Where each access costs a send, up to `most` bytes had better be packets, as copying twice costs
// less than a send more.
std::size_t as_packets(const link::Link& link, std::size_t most) noexcept {
  return link.can().emulated ? most : 0;
}

}  // namespace

OneSided::OneSided(Router& router, link::Link& link, Tails& tails) noexcept
    : router_(router),
      link_(link),
      tails_(tails),
      rma_(link.can().rma),
      emulated_(link.can().emulated),
      written_by_packets_(
          link.can().packet_write != 0
              ? link.can().packet_write
              : as_packets(link, std::min<std::size_t>(link.can().frame_bytes - 1024, 32'768))),
      coalesced_(as_packets(link, std::min<std::size_t>(link.can().frame_bytes / 2, 16'384))) {}

void OneSided::ended(link::Completion& completion) {
  auto& counted = static_cast<Counted&>(completion);
  counted.owner->counted_.give_back(counted);
  link::complete(*counted.counted);
}

bool OneSided::try_read(Rank from, std::uint64_t offset, std::span<std::byte> to,
                        link::Completion& completion) {
  if (rma_) {
    const auto read = link::RmaAccess::read(from, link::RemoteKey::in_segment(offset), to);
    if (!emulated_ || to.size() > coalesced_) return link_.try_access(read, completion);
    if (try_alone(read, completion)) return true;
  }
  return start({from, offset, to.data(), to.size(), false, &completion});
}

bool OneSided::try_read(Rank from, const link::RemoteKey& at, std::span<std::byte> to,
                        link::Completion& completion) {
  return link_.try_access(link::RmaAccess::read(from, at, to), completion);
}

bool OneSided::try_write(Rank to, std::uint64_t offset, std::span<const std::byte> from,
                         bool before_packets, link::Completion& completion) {
  if (rma_) {
    const auto write =
        link::RmaAccess::write(to, link::RemoteKey::in_segment(offset), from, before_packets);
    if (!emulated_ || from.size() > coalesced_) return link_.try_access(write, completion);
    if (try_alone(write, completion)) return true;
  }
  return start({to, offset, const_cast<std::byte*>(from.data()), from.size(), true, &completion});
}

void OneSided::write_by_packets(Rank to, std::uint64_t offset, std::span<const std::byte> from) {
  send_down_to(0, link_, to, Type::kWrite, offset, 0, from);
}

bool OneSided::take_write(const Access& packet) {
  const std::uint32_t bytes = packet.head.data_bytes;
  if (!whole(packet, bytes) || !in_segment(packet.offset, bytes)) return false;
  copy_whole(router_.segment() + packet.offset, data_of(packet), bytes);
  return true;
}

bool OneSided::start(const ByMessages& access) {
  Target& target = targets_[access.rank];
  if (!in_flight_.available(target.accesses)) return false;
  if (accesses_.in_use() == kSlots) return false;
  in_flight_.take(target.accesses);
  ByMessages& taken =
      accesses_.take([](ByMessages& made, std::uint32_t number) { made.number = number; });
  const std::uint64_t generation = taken.generation + 1;
  const std::uint32_t number = taken.number;
  taken = access;
  taken.generation = generation;
  taken.number = number;
  target.unfinished.push_back(number);
  if (target.unfinished.size() == 1 && !send_fragments(target)) waiting_.push_back(&target);
  return true;
}

// False: there is more to send, later.
bool OneSided::send_fragments(Target& target) {
  while (!target.unfinished.empty()) {
    if (!send_fragments(target, target.unfinished.front())) return false;
    target.unfinished.pop_front();
  }
  return true;
}

bool OneSided::send_fragments(Target& target, std::uint32_t number) {
  ByMessages& access = accesses_[number];
  while (access.asked < access.bytes) {
    if (target.asked >= (access.write ? kWrittenAhead : kAhead) ||
        link_.queue(access.rank) == link::Queue::kFull) {
      return false;
    }
    const std::uint64_t bytes =
        std::min<std::uint64_t>(access.bytes - access.asked, link::kMaxData);
    const std::uint64_t name = name_of(access.generation, number);
    if (access.write) {
      send(link_, access.rank, Type::kPut, access.offset + access.asked, name,
           {access.local + access.asked, bytes});
    } else {
      std::byte wanted[sizeof bytes];
      std::memcpy(wanted, &bytes, sizeof bytes);
      send(link_, access.rank, Type::kGet, access.offset + access.asked, name, wanted);
    }
    access.asked += bytes;
    target.asked += bytes;
  }
  return true;
}

void OneSided::resume() {
  std::erase_if(waiting_, [this](Target* target) { return send_fragments(*target); });
}

void OneSided::end_accesses_of_dead() {
  if (idle()) return;
  std::vector<link::Completion*> ended;
  for (std::uint32_t number = 0; number < accesses_.size(); ++number) {
    ByMessages& access = accesses_[number];
    if (access.completion == nullptr || !router_.is_dead(access.rank)) continue;
    Target& target = targets_[access.rank];
    target.asked = 0;
    target.unfinished.clear();
    in_flight_.give_back(target.accesses);
    accesses_.give_back(access);
    ended.push_back(std::exchange(access.completion, nullptr));
  }
  std::erase_if(waiting_, [](const Target* target) { return target->unfinished.empty(); });
  for (link::Completion* const completion : ended) link::complete(*completion);
}

bool OneSided::in_segment(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  return offset <= router_.segment_bytes() && bytes <= router_.segment_bytes() - offset;
}

bool OneSided::serve_get(Rank from, const Access& packet) {
  std::uint64_t bytes = 0;
  if (!whole(packet, sizeof bytes)) return false;
  std::memcpy(&bytes, data_of(packet), sizeof bytes);
  if (bytes > link::kMaxData || !in_segment(packet.offset, bytes)) return false;
  send(link_, from, Type::kGot, bytes, packet.number, {router_.segment() + packet.offset, bytes});
  return true;
}

bool OneSided::serve_put(Rank from, const Access& packet) {
  if (!take_write(packet)) return false;
  send(link_, from, Type::kPutDone, packet.head.data_bytes, packet.number, {});
  return true;
}

// The access of this process that `packet` answers; nullptr: none.
const OneSided::ByMessages* OneSided::find(Rank from, const Access& packet,
                                           bool write) const noexcept {
  const std::uint32_t number = slot_of(packet);
  if (number >= accesses_.size()) return nullptr;
  const ByMessages& access = accesses_[number];
  const bool awaited = access.completion != nullptr && access.asked != access.done &&
                       name_of(access.generation, number) == packet.number;
  return awaited && access.rank == from && access.write == write ? &access : nullptr;
}

// Notes that the oldest outstanding fragment of access `number`, of `bytes`, is done.
void OneSided::account(std::uint32_t number, std::uint64_t bytes) {
  ByMessages& access = accesses_[number];
  Target& target = targets_.at(access.rank);
  access.done += bytes;
  target.asked -= bytes;
  if (access.done != access.bytes) return router_.activity().count_pieces(1);
  link::Completion& completion = *std::exchange(access.completion, nullptr);
  in_flight_.give_back(target.accesses);
  accesses_.give_back(access);
  link::complete(completion);
}

bool OneSided::take_data(Rank from, const Access& packet) {
  const std::uint64_t bytes = packet.head.data_bytes;
  const ByMessages* const access = find(from, packet, false);
  if (access == nullptr || !whole(packet, packet.head.data_bytes)) return false;
  if (bytes != std::min<std::uint64_t>(access->bytes - access->done, link::kMaxData)) return false;
  copy_whole(access->local + access->done, data_of(packet), bytes);
  account(slot_of(packet), bytes);
  return true;
}

bool OneSided::take_done(Rank from, const Access& packet) {
  const ByMessages* const access = find(from, packet, true);
  if (access == nullptr || !whole(packet, 0)) return false;
  const std::uint64_t bytes = packet.offset;
  if (bytes != std::min<std::uint64_t>(access->bytes - access->done, link::kMaxData)) return false;
  account(slot_of(packet), bytes);
  return true;
}

// A packet of one, which others may join.
[[gnu::always_inline]] inline void OneSided::start_small(Rank to, std::uint64_t offset,
                                                         std::span<const std::byte> data,
                                                         std::uint64_t counter) {
  constexpr std::uint32_t kBytes = sizeof(Stores) + sizeof(SmallStore);
  const Stores packet{
      link::make_header(Type::kStores, kBytes, 0, static_cast<std::uint8_t>(data.size())), counter};
  std::byte* const at = link_.claim(to, kBytes);
  std::memcpy(at, &packet, sizeof packet);
  write_small(at + sizeof packet, offset, data);
  tails_.commit(to);
}

void OneSided::store(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                     std::uint64_t counter) {
  if (is_small(data)) return start_small(to, offset, data, counter);
  data = send_down_to(link::kMaxData, link_, to, Type::kStore, offset, counter, data);
  send(link_, to, Type::kStore, offset, counter, data);
}

bool OneSided::take_store(const Access& packet) {
  return take_write(packet) && count(packet.number, packet.head.data_bytes);
}

bool OneSided::try_append(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                          std::uint64_t counter) {
  const auto bytes = static_cast<std::uint8_t>(data.size());
  const link::PacketHeader* const packet =
      tails_.find(to, Type::kStores, bytes, sizeof(SmallStore));
  if (packet == nullptr || reinterpret_cast<const Stores*>(packet)->counter != counter) {
    return false;
  }
  write_small(tails_.grow(to, sizeof(SmallStore)), offset, data);
  return true;
}

bool OneSided::take_stores(const Stores& packet) {
  const std::uint32_t each = packet.head.detail;
  const std::uint32_t count_of = (packet.head.bytes - sizeof packet) / sizeof(SmallStore);
  if (each == 0 || each > sizeof SmallStore::data || count_of == 0 ||
      packet.head.bytes != sizeof packet + count_of * sizeof(SmallStore)) {
    return false;
  }
  const auto* const all = reinterpret_cast<const SmallStore*>(&packet + 1);
  for (const SmallStore& store : std::span(all, count_of)) {
    if (!in_segment(store.offset, each)) return false;
    copy_whole(router_.segment() + store.offset, store.data, each);
  }
  return count(packet.counter, std::uint64_t{count_of} * each);
}

link::Count OneSided::make_count(std::uint64_t counter, std::uint64_t bytes) noexcept {
  return {link::make_header(Type::kCount, sizeof(link::Count)), counter, bytes};
}

bool OneSided::take_count(const link::Count& packet) { return count(packet.counter, packet.bytes); }

// To a counter of stores, of which this process is the only writer: its line is that of all other
// nodes.
bool OneSided::count(std::uint64_t counter, std::uint64_t bytes) {
  if (!has_counter(counter)) return false;
  std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(router_.segment() + counter));
  // pairs with: whoever reads the counter, and then what was stored
  word.store(word.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  return true;
}

}  // namespace am
