#include "am/far/one_sided.h"

#include <atomic>
#include <cstring>

#include "am/route/router.h"
#include "am/types/shared_words.h"

namespace am {
namespace {

using link::Access;
using link::SmallStore;
using link::Stores;
using link::Type;

// The first fragment of what a packet cannot carry.
template <class Byte>
std::span<Byte> fragment_of(std::span<Byte> data) noexcept {
  return data.first(std::min<std::size_t>(data.size(), link::kMaxData));
}

// One access packet with `data` behind it.
void send(link::Link& link, Rank to, Type type, std::uint64_t offset, std::uint64_t number,
          std::span<const std::byte> data, link::Next next = link::Next::kUnknown) {
  const auto bytes = static_cast<std::uint32_t>(data.size());
  const std::uint32_t packet_bytes = sizeof(Access) + link::rounded(bytes);
  const Access packet{link::make_header(type, packet_bytes, bytes), offset, number};
  std::byte* const at = link.claim(to, packet_bytes);
  std::memcpy(at, &packet, sizeof packet);
  copy_whole(at + sizeof packet, data.data(), bytes);
  link.commit(to, next);
}

// Sends `data` in packets of at most link::kMaxData that others follow, down to `left` bytes, which
// it returns; `offset` is then theirs.
std::span<const std::byte> send_down_to(std::size_t left, link::Link& link, Rank to, Type type,
                                        std::uint64_t& offset, std::uint64_t number,
                                        std::span<const std::byte> data) {
  while (data.size() > left) {
    const auto piece = fragment_of(data);
    send(link, to, type, offset, number, piece, link::Next::kSoon);
    offset += piece.size();
    data = data.subspan(piece.size());
  }
  return data;
}

const std::byte* data_of(const Access& packet) noexcept {
  return reinterpret_cast<const std::byte*>(&packet + 1);
}

bool whole(const Access& packet, std::uint32_t data_bytes) noexcept {
  return packet.head.bytes == sizeof packet + link::rounded(data_bytes);
}

}  // namespace

OneSided::OneSided(Router& router, link::Link& link, Tails& tails)
    : router_(router),
      link_(link),
      tails_(tails),
      rma_(link.can().rma),
      sizes_(link.can()),
      accesses_(router, kAccesses) {}

void OneSided::ended(link::Completion& completion) {
  auto& counted = static_cast<Counted&>(completion);
  counted.owner->counted_.give_back(counted);
  link::complete(*counted.counted);
}

bool OneSided::try_access(const link::RmaAccess& access, link::Completion& completion) {
  if (rma_) {
    const bool exposed = access.at.key != link::RemoteKey::kSegment;
    if (access.local.size() > sizes_.access || exposed) return link_.try_access(access, completion);
    if (try_alone(access, completion)) return true;
  }
  return start(access, completion);
}

void OneSided::write_by_packets(Rank to, std::uint64_t offset, std::span<const std::byte> from) {
  send_down_to(0, link_, to, Type::kWrite, offset, 0, from);
}

bool OneSided::take_write(Rank, const Access& packet) {
  const std::uint32_t bytes = packet.head.data_bytes;
  if (!whole(packet, bytes) || !in_segment(packet.offset, bytes)) return false;
  copy_whole(router_.segment() + packet.offset, data_of(packet), bytes);
  return true;
}

bool OneSided::start(const link::RmaAccess& access, link::Completion& completion) {
  ByMessages* const taken = accesses_.take(access.peer, completion);
  if (taken == nullptr) return false;
  taken->write = access.kind != link::RmaAccess::kRead;
  taken->offset = access.at.base;
  taken->unasked = taken->undone = access.local;
  Target& target = targets_[access.peer];
  target.unfinished.push_back(taken);
  if (target.unfinished.size() == 1 && !send_fragments(target)) waiting_.push_back(&target);
  return true;
}

// False: there is more to send, later.
bool OneSided::send_fragments(Target& target) {
  for (; !target.unfinished.empty(); target.unfinished.pop_front()) {
    ByMessages& access = *target.unfinished.front();
    while (!access.unasked.empty()) {
      if (target.asked >= (access.write ? kWrittenAhead : kAhead) ||
          link_.queue(access.peer) == link::Queue::kFull) {
        return false;
      }
      const std::span<std::byte> asked = fragment_of(access.unasked);
      const std::uint64_t bytes = asked.size();
      if (access.write) {
        send(link_, access.peer, Type::kPut, access.offset, access.name, asked);
      } else {
        send(link_, access.peer, Type::kGet, access.offset, access.name,
             std::as_bytes(std::span(&bytes, 1)));
      }
      access.unasked = access.unasked.subspan(bytes);
      access.offset += bytes;
      target.asked += bytes;
    }
  }
  return true;
}

void OneSided::resume() {
  std::erase_if(waiting_, [this](Target* target) { return send_fragments(*target); });
}

void OneSided::end_accesses_of_dead() {
  const std::vector<ByMessages*> dead = accesses_.of_dead();
  for (const ByMessages* const access : dead) targets_[access->peer] = {};
  std::erase_if(waiting_, [](const Target* target) { return target->unfinished.empty(); });
  for (ByMessages* const access : dead) accesses_.end(*access);
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
  if (!take_write(from, packet)) return false;
  send(link_, from, Type::kPutDone, packet.head.data_bytes, packet.number, {});
  return true;
}

// Of the oldest fragment of an access that has not been answered.
bool OneSided::take_answer(Rank from, const Access& packet) {
  ByMessages* const access = accesses_.find(from, packet.number);
  if (access == nullptr || access->undone.size() == access->unasked.size()) return false;
  const std::span<std::byte> fragment = fragment_of(access->undone);
  const auto came = static_cast<std::uint32_t>(access->write ? 0 : fragment.size());
  if (packet.head.type != (access->write ? Type::kPutDone : Type::kGot) ||
      packet.offset != fragment.size() || packet.head.data_bytes != came || !whole(packet, came)) {
    return false;
  }
  copy_whole(fragment.data(), data_of(packet), came);
  targets_.at(from).asked -= fragment.size();
  access->undone = access->undone.subspan(fragment.size());
  if (access->undone.empty()) {
    accesses_.end(*access);
  } else {
    router_.activity().count_pieces(1);
  }
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

bool OneSided::try_store(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                         std::uint64_t counter) {
  if (link_.queue(to) == link::Queue::kFull) return false;
  if (!data.empty() && data.size() <= kSmall) {
    start_small(to, offset, data, counter);
    return true;
  }
  data = send_down_to(link::kMaxData, link_, to, Type::kStore, offset, counter, data);
  send(link_, to, Type::kStore, offset, counter, data);
  return true;
}

bool OneSided::take_store(Rank from, const Access& packet) {
  return take_write(from, packet) && count(packet.number, packet.head.data_bytes);
}

bool OneSided::take_stores(Rank, const Stores& packet) {
  const auto all = items_of<SmallStore>(packet);
  return !all.empty() && write_each(all, packet.head.detail) &&
         count(packet.counter, all.size() * packet.head.detail);
}

bool OneSided::write_each(std::span<const SmallStore> all, std::uint32_t each) noexcept {
  for (const SmallStore& store : all) {
    if (!in_segment(store.offset, each)) return false;
    copy_whole(router_.segment() + store.offset, store.data, each);
  }
  return true;
}

bool OneSided::take_count(Rank, const link::Count& packet) {
  return count(packet.counter, packet.bytes);
}

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
