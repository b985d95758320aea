#include "am/far/far_memory.h"

namespace am {

using link::Type;

FarMemory::FarMemory(Router& router, Port& port)
    : router_(router),
      tails_(port.link(), router.size()),
      one_sided_(router, port.link(), tails_),
      small_accesses_(router, port.link(), one_sided_, tails_),
      transfers_(port.link(), one_sided_),
      arrival_words_(port.link().can().word_bits) {
  for (const Type type :
       {Type::kStore, Type::kCount, Type::kGet, Type::kPut, Type::kGot, Type::kPutDone,
        Type::kWrite, Type::kStores, Type::kPuts, Type::kPutsDone, Type::kGets, Type::kGotWords}) {
    port.add(type, *this);
  }
  port.add(arrival_words_);
  port.add(static_cast<Resumed&>(*this));
}

bool FarMemory::take_packet(Rank from, const link::PacketHeader& packet) {
  if (packet.type == Type::kCount) {
    const auto* const count = link::as_exactly<link::Count>(packet);
    return count != nullptr && one_sided_.take_count(*count);
  }
  if (packet.type == Type::kStores) {
    const auto* const stores = link::as<link::Stores>(packet);
    return stores != nullptr && one_sided_.take_stores(*stores);
  }
  if (packet.type >= Type::kPuts) {
    const auto* const row = link::as<link::Row>(packet);
    return row != nullptr && take_row(from, *row);
  }
  const auto* const access = link::as<link::Access>(packet);
  return access != nullptr && take_access(from, *access);
}

bool FarMemory::take_access(Rank from, const link::Access& packet) {
  switch (packet.head.type) {
    case Type::kStore: return one_sided_.take_store(packet);
    case Type::kGet: return one_sided_.serve_get(from, packet);
    case Type::kPut: return one_sided_.serve_put(from, packet);
    case Type::kGot: return one_sided_.take_data(from, packet);
    case Type::kPutDone: return one_sided_.take_done(from, packet);
    case Type::kWrite: return one_sided_.take_write(packet);
    default: return false;
  }
}

bool FarMemory::take_row(Rank from, const link::Row& packet) {
  switch (packet.head.type) {
    case Type::kPuts: return small_accesses_.serve_puts(from, packet);
    case Type::kPutsDone: return small_accesses_.take_done(from, packet);
    case Type::kGets: return small_accesses_.serve_gets(from, packet);
    case Type::kGotWords: return small_accesses_.take_words(from, packet);
    default: return false;
  }
}

void FarMemory::resume() {
  const Deaths* const deaths = router_.deaths();
  if (deaths != nullptr && deaths->count() != 0) [[unlikely]] {
    one_sided_.end_accesses_of_dead();
    small_accesses_.end_rows_of_dead();
  }
  one_sided_.resume();
  transfers_.resume();
}

}  // namespace am
