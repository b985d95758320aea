// Frames that are written, in one operation with the bytes that they tell of.

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/link/fabric/fabric_link.h"
#include "am/link/fabric/frames.h"
#include "am/link/link.h"
#include "rdma/error.h"

namespace am::link {

WrittenFrames::Given::Given(rdma::Fabric& fabric, rdma::Endpoint& endpoint, Rank owner,
                            std::uint64_t word)
    : owner(owner),
      word(word),
      places(fabric, endpoint, kPlaces, kBytes),
      memory(fabric, places.all(), FI_REMOTE_WRITE, &endpoint.fid()) {}

Room WrittenFrames::give(Rank owner) {
  auto found = std::ranges::find(rooms_, owner, &Given::owner);
  if (found == rooms_.end()) {
    if (rooms_.size() == kRooms) throw rdma::Error("there are too many rooms for frames");
    const std::uint64_t word = random_word() >> kRandomShift << kRandomShift | rooms_.size();
    rooms_.emplace_back(fabric_, endpoint_, owner, word);
    found = rooms_.end() - 1;
  }
  const rdma::RemoteKey key = found->memory.key();
  return {make_header(Type::kRoom, sizeof(Room)), key.base, key.key, found->word};
}

WrittenFrames::Found WrittenFrames::find(std::uint64_t word) noexcept {
  const std::uint64_t number = word & (kRooms - 1);
  if (number >= rooms_.size()) return {};
  Given& room = rooms_[number];
  const std::uint64_t rest = word ^ room.word;
  const std::uint64_t place = rest >> kPlaceShift & (kPlaces - 1);
  const std::uint64_t bytes = (rest >> kLengthShift & (kLengths - 1)) * 8;
  if (rest >> kRandomShift != 0 || bytes > kBytes) return {};
  return {&room, room.places[place].first(bytes)};
}

// Asks for room at the first time.
bool FabricLink::has_room(Rank to, std::size_t bytes) {
  if (!written_ || bytes > longest_access_) return false;
  Route& r = route(to);
  if (r.dead) return false;
  if (!r.room.known()) ask_room(r);
  return r.room.free != 0;
}

// The open frame, with `packet` behind what it holds, to be written as it is. nullptr: others are
// to be sent before.
Frame* FabricLink::claim_written(Route& r, std::span<const std::byte> packet) {
  const auto fits = [&] {
    return r.open == nullptr || r.open->bytes + packet.size() <= WrittenFrames::kBytes;
  };
  if (!fits()) start(r);
  if (!r.waiting.empty() || !fits()) return nullptr;
  std::byte* const room = claim(r.rank, static_cast<std::uint32_t>(packet.size()));
  std::memcpy(room, packet.data(), packet.size());
  return r.open;
}

void FabricLink::ask_room(Route& r) {
  if (std::exchange(r.room.asked, true)) return;
  const PacketHeader ask = make_header(Type::kAskRoom, sizeof ask);
  send(r.rank, std::as_bytes(std::span(&ask, 1)));
}

// Who gets none goes on without.
bool FabricLink::give_room() {
  if (!written_) return true;
  try {
    const Room room = written_->give(incoming_.source());
    send(incoming_.source(), std::as_bytes(std::span(&room, 1)));
  } catch (const rdma::Error&) {
  }
  return true;
}

bool FabricLink::take_room(const PacketHeader& packet) {
  const auto* const room = as_exactly<Room>(packet);
  RoomThere& there = route(incoming_.source()).room;
  if (room == nullptr || room->word == 0 || there.known()) return false;
  there = {.asked = true,
           .base = room->base,
           .key = room->key,
           .word = room->word,
           .next = 0,
           .free = WrittenFrames::kPlaces};
  return true;
}

bool FabricLink::take_room_read(const PacketHeader& packet) {
  RoomThere& there = route(incoming_.source()).room;
  if (packet.detail > WrittenFrames::kPlaces - there.free) return false;
  there.free += packet.detail;
  return true;
}

// False: it is not the word of a frame.
bool FabricLink::begin_written(std::uint64_t word) {
  if (!written_) return false;
  const auto [room, frame] = written_->find(word);
  if (room == nullptr) return false;
  written_to_ = room;
  open(frame);
  return true;
}

void FabricLink::end_written() {
  WrittenFrames::Given& room = *std::exchange(written_to_, nullptr);
  if (++room.read != WrittenFrames::kReported) return;
  const PacketHeader read =
      make_header(Type::kRoomRead, sizeof read, 0, static_cast<std::uint8_t>(room.read));
  room.read = 0;
  send(room.owner, std::as_bytes(std::span(&read, 1)));
}

}  // namespace am::link
