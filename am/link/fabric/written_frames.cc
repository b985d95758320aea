#include "am/link/fabric/written_frames.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "rdma/error.h"

namespace am::link {
namespace {

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (getentropy(&bits, sizeof bits) != 0) {
    throw rdma::Error("the system has no random numbers", errno);
  }
  return bits;
}

}  // namespace

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
    const std::uint64_t word = random_bits() >> kRandomShift << kRandomShift | rooms_.size();
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

}  // namespace am::link
