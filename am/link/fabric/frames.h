#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <span>

#include "am/link/packet.h"
#include "rdma/endpoint.h"
#include "rdma/library.h"
#include "rdma/memory.h"

namespace am::link {

struct Route;
class FrameSlab;

// One send: a buffer for packets to one process, which are sent together. All of a link are as long
// as the provider sends at once (rdma::Fabric::eager_bytes()): a frame of many packets costs the
// system calls of one.
struct Frame {
  Frame(FrameSlab& slab, std::span<std::byte> buffer, void* descriptor) noexcept
      : slab(slab),
        capacity(static_cast<std::uint32_t>(buffer.size())),
        data(buffer.data()),
        descriptor(descriptor) {}

  static Frame& of(const rdma::Op& op) noexcept {
    return reinterpret_cast<Frame&>(const_cast<rdma::Op&>(op));  // its first member
  }

  std::uint32_t room() const noexcept { return capacity - bytes; }
  bool empty() const noexcept { return bytes == sizeof(FrameHeader); }

  rdma::Op op{rdma::Op::Kind::kSend};
  Route* route = nullptr;
  Frame* next = nullptr;      // in a queue
  std::uint32_t bytes = 0;    // so far, the header included
  std::uint32_t commits = 0;  // of packets in it; not those that others follow at once
  FrameSlab& slab;            // which it is part of
  const std::uint32_t capacity;
  std::byte* const data;  // registered
  void* const descriptor;
};
inline constexpr std::size_t kLeastFrame = kMaxPacket + sizeof(FrameHeader);

// First in, first out, through Frame::next.
class FrameQueue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  std::uint32_t size() const noexcept { return size_; }
  Frame& front() const noexcept { return *first_; }
  void push(Frame& frame) noexcept;
  void push_front(Frame& frame) noexcept;
  void pop() noexcept;

 private:
  Frame* first_ = nullptr;
  Frame* last_ = nullptr;
  std::uint32_t size_ = 0;
};

// Frames that are allocated and registered together.
class FrameSlab {
 public:
  static constexpr std::uint32_t kFrames = 16;

  FrameSlab(rdma::Fabric& fabric, rdma::Endpoint& endpoint, std::size_t frame_bytes);
  FrameSlab(const FrameSlab&) = delete;
  FrameSlab& operator=(const FrameSlab&) = delete;

  bool exhausted() const noexcept { return free_ == 0; }
  bool unused() const noexcept { return free_ == kAll; }
  Frame& take() noexcept;  // unless exhausted()
  void give_back(const Frame& frame) noexcept;

  std::list<FrameSlab>::iterator place;  // in the pool

 private:
  static constexpr std::uint32_t kAll = (std::uint32_t{1} << kFrames) - 1;

  rdma::Buffers buffers_;
  std::deque<Frame> frames_;
  std::uint32_t free_ = kAll;  // a bit for each frame
};

// The frames of a link. Grows as far as flow control lets packets queue up, and gives memory back
// when more than kept() slabs are unused.
//
// Thread rule: the link's.
class FramePool {
 public:
  static constexpr std::size_t kKeptBytes = std::size_t{8} << 20;

  FramePool(rdma::Fabric& fabric, rdma::Endpoint& endpoint, std::size_t frame_bytes) noexcept
      : fabric_(fabric), endpoint_(endpoint), frame_bytes_(frame_bytes) {}

  // A frame that begins with `header`. Throws Error when no more memory can be registered.
  Frame& take(Route& route, const FrameHeader& header);
  void give_back(Frame& frame) noexcept;

  std::size_t kept() const noexcept { return kKeptBytes / (FrameSlab::kFrames * frame_bytes_); }
  std::size_t slabs() const noexcept { return exhausted_.size() + ready_.size(); }

 private:
  rdma::Fabric& fabric_;
  rdma::Endpoint& endpoint_;
  const std::size_t frame_bytes_;
  std::list<FrameSlab> exhausted_;
  std::list<FrameSlab> ready_;  // with free frames; those that are unused come last
  std::size_t unused_ = 0;      // how many of them
};

// Frames that others write here, each in one operation with the bytes that it announces. A process
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
