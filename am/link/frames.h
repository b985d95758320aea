#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "am/link/packet.h"
#include "rdma/buffers.h"
#include "rdma/op.h"

namespace am::link {

struct Route;

// One send: room for packets that go to one process together.
struct Frame {
  // Below what ofi_rxm sends at once: for longer messages it asks the receiver first.
  static constexpr std::size_t kBytes = 12288;

  Frame(std::byte* data, void* descriptor) noexcept : data(data), descriptor(descriptor) {}

  static Frame& of(const rdma::Op& op) noexcept {
    return reinterpret_cast<Frame&>(const_cast<rdma::Op&>(op));  // its first member
  }

  std::uint32_t room() const noexcept { return kBytes - bytes; }
  bool empty() const noexcept { return bytes == sizeof(FrameHeader); }

  rdma::Op op{rdma::Op::Kind::kSend};
  Route* route = nullptr;
  Frame* next = nullptr;    // in a queue
  std::uint32_t bytes = 0;  // so far, the header included
  std::byte* const data;    // kBytes, registered
  void* const descriptor;
};
static_assert(kMaxPacket + sizeof(FrameHeader) <= Frame::kBytes);

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

// Frames that are made once and used again. It grows as far as credits let packets pile up.
class FramePool {
 public:
  FramePool(rdma::Fabric& fabric, rdma::Endpoint& endpoint) noexcept
      : fabric_(fabric), endpoint_(endpoint) {}

  Frame& take(Route& route, const FrameHeader& header);
  void give_back(Frame& frame) noexcept { free_.push_back(&frame); }

 private:
  static constexpr std::size_t kSlab = 16;  // frames made at a time

  void grow();

  rdma::Fabric& fabric_;
  rdma::Endpoint& endpoint_;
  std::deque<rdma::Buffers> slabs_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<Frame*> free_;
};

}  // namespace am::link
