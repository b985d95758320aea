#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "am/link/frames.h"
#include "rdma/buffers.h"
#include "rdma/op.h"

namespace am::link {

// Room for frames to come in, offered to the provider: a few large buffers that each take many
// frames, where it can do that, or else one buffer a frame.
class Receives {
 public:
  Receives(rdma::Fabric& fabric, rdma::Endpoint& endpoint, std::size_t frames);

  // Where a frame of `bytes` is that came with `op`; `at` is what the provider says.
  std::span<const std::byte> frame(const rdma::Op& op, void* at, std::size_t bytes) const noexcept;
  // Offers the room of `op` again: all that came in it has been read.
  void renew(const rdma::Op& op);
  // Offers again what the provider had no room for.
  void retry();

 private:
  struct Room {
    explicit Room(std::span<std::byte> bytes) noexcept : bytes(bytes) {}
    rdma::Op op{rdma::Op::Kind::kReceive};
    std::span<std::byte> bytes;
  };
  static Room& room_of(const rdma::Op& op) noexcept {
    return reinterpret_cast<Room&>(const_cast<rdma::Op&>(op));  // its first member
  }

  bool many_;  // frames a buffer
  rdma::Endpoint& endpoint_;
  rdma::Buffers buffers_;
  std::deque<Room> rooms_;
  std::vector<Room*> refused_;
};

}  // namespace am::link
