#include "am/far/small_accesses.h"

#include <cstring>
#include <utility>

#include "am/route/router.h"
#include "am/types/copy_whole.h"

namespace am {
namespace {

using link::RemoteKey;
using link::RmaAccess;
using link::SmallStore;
using link::Type;

constexpr std::uint32_t kWord = sizeof(std::uint64_t);

// What a row is called in packets: which of the pool, and how often it was used.
std::uint64_t row_name(std::uint64_t generation, std::uint32_t slot) noexcept {
  return generation << 16 | slot;
}
std::uint32_t row_slot(std::uint64_t name) noexcept {
  return static_cast<std::uint32_t>(name & 0xffff);
}

// How many items of `each` bytes are in a packet; 0: it is damaged.
std::uint32_t items(const link::Row& packet, std::uint32_t each) noexcept {
  const std::uint32_t bytes = packet.head.bytes - std::uint32_t{sizeof packet};
  const std::uint32_t access = packet.head.detail;
  return access != 0 && access <= SmallAccesses::kMost && bytes % each == 0 ? bytes / each : 0;
}

std::uint64_t word_at(const link::Row& packet, std::uint32_t index) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const std::byte*>(&packet + 1) + index * kWord, kWord);
  return word;
}

}  // namespace

SmallAccesses::SmallAccesses(Router& router, link::Link& link, OneSided& one_sided, Tails& tails)
    : router_(router),
      link_(link),
      one_sided_(one_sided),
      tails_(tails),
      applies_(link.can().emulated),
      shares_(router.size()) {}

// Claims a packet for a row of one access, which is to be written at `item`.
SmallAccesses::Row* SmallAccesses::begin(Type type, Rank peer, std::size_t bytes,
                                         link::Completion& completion, std::uint32_t item_bytes,
                                         std::byte*& item) {
  link::InFlight::Share& share = shares_[peer];
  if (!in_flight_.available(share) || rows_.in_use() == kSlots ||
      link_.queue(peer) == link::Queue::kFull) {
    return nullptr;
  }
  in_flight_.take(share);
  Row& row = rows_.take([](Row& made, std::uint32_t number) { made.number = number; });
  row.peer = peer;
  row.bytes = static_cast<std::uint32_t>(bytes);
  row.to.clear();
  row.completion = &completion;
  ++row.generation;
  const link::Row packet{
      link::make_header(type, sizeof packet + item_bytes, 0, static_cast<std::uint8_t>(bytes)),
      row_name(row.generation, row.number)};
  std::byte* const at = link_.claim(peer, packet.head.bytes);
  std::memcpy(at, &packet, sizeof packet);
  item = at + sizeof packet;
  return &row;
}

SmallAccesses::Row& SmallAccesses::of(const link::PacketHeader& packet) noexcept {
  return rows_[row_slot(reinterpret_cast<const link::Row&>(packet).name)];
}

link::Completion* SmallAccesses::try_join_put(Rank to, std::uint64_t offset,
                                              std::span<const std::byte> data) {
  const auto bytes = static_cast<std::uint8_t>(data.size());
  const link::PacketHeader* const packet = tails_.find(to, Type::kPuts, bytes, sizeof(SmallStore));
  if (packet == nullptr) return nullptr;
  write_small(tails_.grow(to, sizeof(SmallStore)), offset, data);
  Row& row = of(*packet);
  return row.completion;
}

link::Completion* SmallAccesses::try_join_get(Rank from, std::uint64_t offset,
                                              std::span<std::byte> to) {
  const auto bytes = static_cast<std::uint8_t>(to.size());
  const link::PacketHeader* const packet = tails_.find(from, Type::kGets, bytes, kWord);
  if (packet == nullptr) return nullptr;
  Row& row = of(*packet);
  row.to.push_back(to.data());
  std::memcpy(tails_.grow(from, kWord), &offset, kWord);
  return row.completion;
}

bool SmallAccesses::try_put(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                            link::Completion& completion) {
  if (shares_[to].in_flight == 0 &&
      one_sided_.try_alone(RmaAccess::write(to, RemoteKey::in_segment(offset), data), completion)) {
    return true;
  }
  std::byte* item = nullptr;
  if (begin(Type::kPuts, to, data.size(), completion, sizeof(SmallStore), item) == nullptr) {
    return false;
  }
  write_small(item, offset, data);
  tails_.commit(to);
  return true;
}

bool SmallAccesses::try_get(Rank from, std::uint64_t offset, std::span<std::byte> to,
                            link::Completion& completion) {
  if (shares_[from].in_flight == 0 &&
      one_sided_.try_alone(RmaAccess::read(from, RemoteKey::in_segment(offset), to), completion)) {
    return true;
  }
  std::byte* item = nullptr;
  Row* const row = begin(Type::kGets, from, to.size(), completion, kWord, item);
  if (row == nullptr) return false;
  row->to.push_back(to.data());
  std::memcpy(item, &offset, kWord);
  tails_.commit(from);
  return true;
}

bool SmallAccesses::serve_puts(Rank from, const link::Row& packet) {
  const std::uint32_t count = items(packet, sizeof(SmallStore));
  if (count == 0) return false;
  const auto* const all = reinterpret_cast<const SmallStore*>(&packet + 1);
  for (const SmallStore& put : std::span(all, count)) {
    if (!one_sided_.in_segment(put.offset, packet.head.detail)) return false;
    copy_whole(router_.segment() + put.offset, put.data, packet.head.detail);
  }
  const link::Row done{link::make_header(Type::kPutsDone, sizeof done, 0, packet.head.detail),
                       packet.name};
  link_.send(from, std::as_bytes(std::span(&done, 1)));
  return true;
}

bool SmallAccesses::serve_gets(Rank from, const link::Row& packet) {
  const std::uint32_t count = items(packet, kWord);
  const std::uint32_t each = packet.head.detail;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!one_sided_.in_segment(word_at(packet, i), each)) return false;
  }
  if (count == 0) return false;
  const link::Row answer{
      link::make_header(Type::kGotWords, packet.head.bytes, 0, packet.head.detail), packet.name};
  std::byte* at = link_.claim(from, packet.head.bytes);
  std::memcpy(at, &answer, sizeof answer);
  at += sizeof answer;
  for (std::uint32_t i = 0; i < count; ++i, at += kWord) {
    std::memset(at, 0, kWord);
    copy_whole(at, router_.segment() + word_at(packet, i), each);
  }
  link_.commit(from);
  return true;
}

// The row of this process that `packet` answers; nullptr: none.
SmallAccesses::Row* SmallAccesses::find(Rank from, const link::Row& packet, bool gets) noexcept {
  const std::uint32_t slot = row_slot(packet.name);
  if (slot >= rows_.size()) return nullptr;
  Row& row = rows_[slot];
  const bool awaited = row.completion != nullptr && row.peer == from && row.to.empty() != gets &&
                       row_name(row.generation, slot) == packet.name;
  return awaited && packet.head.detail == row.bytes ? &row : nullptr;
}

void SmallAccesses::end(Row& row) {
  link::Completion& completion = *std::exchange(row.completion, nullptr);
  in_flight_.give_back(shares_[row.peer]);
  rows_.give_back(row);
  link::complete(completion);
}

void SmallAccesses::end_rows_of_dead() {
  if (idle()) return;
  std::vector<Row*> dead;
  for (std::uint32_t number = 0; number < rows_.size(); ++number) {
    Row& row = rows_[number];
    if (row.completion != nullptr && router_.is_dead(row.peer)) dead.push_back(&row);
  }
  for (Row* const row : dead) {
    tails_.forget(row->peer);
    end(*row);
  }
}

bool SmallAccesses::take_done(Rank from, const link::Row& packet) {
  Row* const row = find(from, packet, false);
  if (row == nullptr || packet.head.bytes != sizeof packet) return false;
  end(*row);
  return true;
}

bool SmallAccesses::take_words(Rank from, const link::Row& packet) {
  Row* const row = find(from, packet, true);
  if (row == nullptr || packet.head.bytes != sizeof packet + row->to.size() * kWord) return false;
  const auto* at = reinterpret_cast<const std::byte*>(&packet + 1);
  for (std::byte* const to : row->to) {
    copy_whole(to, at, row->bytes);
    at += kWord;
  }
  end(*row);
  return true;
}

}  // namespace am
