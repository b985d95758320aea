#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <vector>

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

}  // namespace am::link
