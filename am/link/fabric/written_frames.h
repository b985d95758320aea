#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "am/link/packet.h"
#include "rdma/endpoint.h"
#include "rdma/memory.h"

namespace am::link {

// Frames that others write here, each in one operation with the bytes that it tells of. A process
// that asks gets room for a few of them, which it uses in turn.
//
// Such a write is reported by completion data, a word: what was given to its writer at random, and
// with it the place and the length of the frame. A word of anybody else names nothing here, and the
// frame is checked as one that was sent.
//
// Thread rule: the link's.
class WrittenFrames {
 public:
  static constexpr std::uint32_t kPlaces = 32;   // of one process
  static constexpr std::uint32_t kBytes = 256;   // of a frame, at most
  static constexpr std::uint32_t kReported = 8;  // frames whose places are given back together

  // The room of one process.
  struct Given {
    Given(rdma::Fabric& fabric, rdma::Endpoint& endpoint, Rank owner, std::uint64_t word);

    Rank owner;
    std::uint64_t word;
    std::uint32_t read = 0;  // frames since the last report
    rdma::Buffers places;
    rdma::Memory memory;
  };

  WrittenFrames(rdma::Fabric& fabric, rdma::Endpoint& endpoint) noexcept
      : fabric_(fabric), endpoint_(endpoint) {}

  // What process `owner` gets, always the same. Throws rdma::Error when no more can be registered,
  // or the system has no random numbers.
  Room give(Rank owner);

  // The word of a frame in `place` of the room that `word` is of.
  static std::uint64_t name(std::uint64_t word, std::uint32_t place, std::size_t bytes) noexcept {
    return word | place << kPlaceShift | bytes / 8 << kLengthShift;
  }
  struct Found {
    Given* room = nullptr;  // nullptr: that word is of no frame
    std::span<const std::byte> frame{};
  };
  Found find(std::uint64_t word) noexcept;

 private:
  // A word: the number of the room, the place, the length in words, and what is random.
  static constexpr unsigned kPlaceShift = 20;
  static constexpr unsigned kLengthShift = 25;
  static constexpr unsigned kRandomShift = 32;
  static constexpr std::uint64_t kRooms = std::uint64_t{1} << kPlaceShift;
  static constexpr std::uint64_t kLengths = std::uint64_t{1} << (kRandomShift - kLengthShift);
  static_assert(kPlaces == 1 << (kLengthShift - kPlaceShift) && kBytes / 8 < kLengths);

  rdma::Fabric& fabric_;
  rdma::Endpoint& endpoint_;
  std::deque<Given> rooms_;
};

// The other side: the room that a process has there.
struct RoomThere {
  bool known() const noexcept { return word != 0; }
  // Where the next frame goes; if known().
  rdma::RemoteKey at() const noexcept {
    return {base + std::uint64_t{next} * WrittenFrames::kBytes, key};
  }
  void take() noexcept {
    next = (next + 1) % WrittenFrames::kPlaces;
    --free;
  }

  bool asked = false;
  std::uint64_t base = 0;
  std::uint64_t key = 0;
  std::uint64_t word = 0;
  std::uint32_t next = 0;  // place
  std::uint32_t free = 0;  // places
};

}  // namespace am::link
