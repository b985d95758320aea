#include "am/far/small_accesses.h"

#include <cstring>

#include "am/route/router.h"
#include "am/types/shared_words.h"

namespace am {
namespace {

using link::RmaAccess;
using link::SmallStore;
using link::Type;

constexpr std::uint32_t kWord = sizeof(std::uint64_t);

// Of the packets for such accesses.
struct RowKind {
  explicit RowKind(const RmaAccess& access) noexcept
      : reads(access.kind == RmaAccess::kRead),
        type(reads ? Type::kGets : Type::kPuts),
        each(static_cast<std::uint8_t>(access.local.size())),
        item_bytes(reads ? kWord : sizeof(SmallStore)) {}

  void write_item(std::byte* at, const RmaAccess& access) const noexcept {
    if (!reads) return write_small(at, access.at.base, access.local);
    std::memcpy(at, &access.at.base, kWord);
  }

  bool reads;
  Type type;
  std::uint8_t each;
  std::uint32_t item_bytes;
};

}  // namespace

SmallAccesses::SmallAccesses(Router& router, link::Link& link, OneSided& one_sided, Tails& tails)
    : router_(router),
      link_(link),
      one_sided_(one_sided),
      tails_(tails),
      applies_(link.can().emulated),
      rows_(router, kRows) {}

link::Completion* SmallAccesses::try_join(const RmaAccess& access, const link::Home* home) {
  const RowKind kind(access);
  const link::PacketHeader* const packet =
      tails_.find(access.peer, kind.type, kind.each, kind.item_bytes);
  if (packet == nullptr) return nullptr;
  Row& row = rows_[reinterpret_cast<const link::Row&>(*packet).name];
  if (row.completion->home != home) return nullptr;  // another thread waits for it
  if (kind.reads) row.to.push_back(access.local.data());
  kind.write_item(tails_.grow(access.peer, kind.item_bytes), access);
  return row.completion;
}

bool SmallAccesses::try_access(const RmaAccess& access, link::Completion& completion) {
  const Rank peer = access.peer;
  if (rows_.idle(peer) && one_sided_.try_alone(access, completion)) return true;
  if (link_.queue(peer) == link::Queue::kFull) return false;
  Row* const row = rows_.take(peer, completion);
  if (row == nullptr) return false;
  const RowKind kind(access);
  row->bytes = kind.each;
  row->to.clear();
  if (kind.reads) row->to.push_back(access.local.data());
  const link::Row packet{
      link::make_header(kind.type, sizeof packet + kind.item_bytes, 0, kind.each), row->name};
  std::byte* const at = link_.claim(peer, packet.head.bytes);
  std::memcpy(at, &packet, sizeof packet);
  kind.write_item(at + sizeof packet, access);
  tails_.commit(peer);
  return true;
}

bool SmallAccesses::serve_puts(Rank from, const link::Row& packet) {
  const auto all = items_of<SmallStore>(packet);
  if (all.empty() || !one_sided_.write_each(all, packet.head.detail)) return false;
  const link::Row done{link::make_header(Type::kPutsDone, sizeof done, 0, packet.head.detail),
                       packet.name};
  link_.send(from, std::as_bytes(std::span(&done, 1)));
  return true;
}

bool SmallAccesses::serve_gets(Rank from, const link::Row& packet) {
  const auto offsets = items_of<std::uint64_t>(packet);
  const std::uint8_t each = packet.head.detail;
  for (const std::uint64_t offset : offsets) {
    if (!one_sided_.in_segment(offset, each)) return false;
  }
  if (offsets.empty()) return false;
  const link::Row answer{link::make_header(Type::kGotWords, packet.head.bytes, 0, each),
                         packet.name};
  std::byte* at = link_.claim(from, packet.head.bytes);
  std::memcpy(at, &answer, sizeof answer);
  at += sizeof answer;
  for (const std::uint64_t offset : offsets) {
    std::memset(at, 0, kWord);
    copy_whole(at, router_.segment() + offset, each);
    at += kWord;
  }
  link_.commit(from);
  return true;
}

bool SmallAccesses::take_answer(Rank from, const link::Row& packet) {
  Row* const row = rows_.find(from, packet.name);
  if (row == nullptr || packet.head.detail != row->bytes ||
      packet.head.type != (row->to.empty() ? Type::kPutsDone : Type::kGotWords) ||
      packet.head.bytes != sizeof packet + row->to.size() * kWord) {
    return false;
  }
  const auto* at = reinterpret_cast<const std::byte*>(&packet + 1);
  for (std::byte* const to : row->to) {
    copy_whole(to, at, row->bytes);
    at += kWord;
  }
  rows_.end(*row);
  return true;
}

void SmallAccesses::end_rows_of_dead() {
  for (Row* const row : rows_.of_dead()) {
    tails_.forget(row->peer);
    rows_.end(*row);
  }
}

}  // namespace am
