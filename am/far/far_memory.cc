#include "am/far/far_memory.h"

namespace am {
namespace {

using link::Type;

// Calls room.take(from, packet) if it can be such a packet, which it is not if it is too short.
template <class Room, class Packet>
[[gnu::always_inline]] inline bool pass(Room& room, bool (Room::*take)(Rank, const Packet&),
                                        Rank from, const link::PacketHeader& head) {
  const auto* const packet = link::as<Packet>(head);
  return packet != nullptr && (room.*take)(from, *packet);
}

// Takes packets that have nothing behind what they begin with.
template <class Room, class Packet>
bool pass_exactly(Room& room, bool (Room::*take)(Rank, const Packet&), Rank from,
                  const link::PacketHeader& head) {
  const auto* const packet = link::as_exactly<Packet>(head);
  return packet != nullptr && (room.*take)(from, *packet);
}

}  // namespace

FarMemory::FarMemory(Router& router, Port& port)
    : router_(router),
      link_(port.link()),
      tails_(port.link(), router.size()),
      one_sided_(router, port.link(), tails_),
      small_accesses_(router, port.link(), one_sided_, tails_),
      transfers_(port.link(), one_sided_),
      arrival_words_(port.link().can().word_bits),
      learned_stores_(port.link(), one_sided_, arrival_words_) {
  for (const Type type : {Type::kStore, Type::kCount, Type::kGet, Type::kPut, Type::kGot,
                          Type::kPutDone, Type::kWrite, Type::kStores, Type::kPuts, Type::kPutsDone,
                          Type::kGets, Type::kGotWords, Type::kLearn, Type::kLearned}) {
    port.add(type, *this);
  }
  port.add(arrival_words_);
  port.add(static_cast<Resumed&>(*this));
}

bool FarMemory::take_packet(Rank from, const link::PacketHeader& packet) {
  switch (packet.type) {
    case Type::kStore: return pass(one_sided_, &OneSided::take_store, from, packet);
    case Type::kStores: return pass(one_sided_, &OneSided::take_stores, from, packet);
    case Type::kCount: return pass_exactly(one_sided_, &OneSided::take_count, from, packet);
    case Type::kWrite: return pass(one_sided_, &OneSided::take_write, from, packet);
    case Type::kGet: return pass(one_sided_, &OneSided::serve_get, from, packet);
    case Type::kPut: return pass(one_sided_, &OneSided::serve_put, from, packet);
    case Type::kGot:
    case Type::kPutDone: return pass(one_sided_, &OneSided::take_answer, from, packet);
    case Type::kGets: return pass(small_accesses_, &SmallAccesses::serve_gets, from, packet);
    case Type::kPuts: return pass(small_accesses_, &SmallAccesses::serve_puts, from, packet);
    case Type::kGotWords:
    case Type::kPutsDone: return pass(small_accesses_, &SmallAccesses::take_answer, from, packet);
    case Type::kLearn:
      return pass_exactly(learned_stores_, &LearnedStores::take_question, from, packet);
    case Type::kLearned:
      return pass_exactly(learned_stores_, &LearnedStores::take_answer, from, packet);
    default: return false;
  }
}

bool FarMemory::try_store_much(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                               std::uint64_t counter, link::Completion& completion) {
  if (link_.queue(to) == link::Queue::kFull) return false;
  const bool repeats = data.size() > one_sided_.sizes().store;  // packets carry others, too
  if (const auto word =
          repeats ? learned_stores_.find(to, offset, data.size(), counter) : std::nullopt) {
    return learned_stores_.try_put(
        link::RmaAccess::notify(to, link::RemoteKey::in_segment(offset), data, *word), completion);
  }
  const link::Count packet{link::make_header(Type::kCount, sizeof packet), counter, data.size()};
  transfers_.start(to, offset, data, std::as_bytes(std::span(&packet, 1)), completion);
  return true;
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
