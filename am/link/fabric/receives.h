#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "am/link/fabric/frames.h"
#include "rdma/endpoint.h"
#include "rdma/library.h"
#include "rdma/memory.h"

namespace am::link {

// Posted receives, one buffer each: as many frames as that may arrive before the next poll. How
// many there are at first depends on the number of peers (fabric_link.cc).
//
// Multi-receive buffers (FI_MULTI_RECV), which would need fewer calls, are not used: libfabric
// before 1.18.3, 1.19.1 and 1.20.0 reports such a buffer as finished when its last slice has been
// handed out, although an earlier slice of another sender may still be half received. Whoever posts
// it again then has data of two frames in one place. A receive a frame costs less than 2 % of a
// round trip.
class Receives {
 public:
  // Posts `frames` receives of `frame_bytes` each. Throws Error when no more can be registered.
  Receives(rdma::Fabric& fabric, rdma::Endpoint& endpoint, std::size_t frames,
           std::size_t frame_bytes);

  // Posts as many besides.
  void add(std::size_t frames);
  std::size_t size() const noexcept { return slots_.size(); }

  // The frame of `bytes` that was received with `op`. Valid until renew(op).
  static std::span<const std::byte> frame(const rdma::Op& op, std::size_t bytes) noexcept {
    const std::span<const std::byte> buffer = slot_of(op).buffer;
    return buffer.first(std::min(bytes, buffer.size()));
  }
  // Posts the receive of `op` again, now or at the next retry(): its frame has been read, or the
  // receive has failed.
  void renew(const rdma::Op& op);
  // Posts what the provider had no room for.
  void retry();

 private:
  struct Slot {
    Slot(std::span<std::byte> buffer, void* descriptor) noexcept
        : buffer(buffer), descriptor(descriptor) {}
    rdma::Op op{rdma::Op::Kind::kReceive};
    const std::span<std::byte> buffer;
    void* const descriptor;
  };
  static Slot& slot_of(const rdma::Op& op) noexcept {
    return reinterpret_cast<Slot&>(const_cast<rdma::Op&>(op));  // its first member
  }

  rdma::Fabric& fabric_;
  rdma::Endpoint& endpoint_;
  const std::size_t frame_bytes_;
  std::deque<rdma::Buffers> buffers_;
  std::deque<Slot> slots_;
  std::vector<Slot*> refused_;  // not posted yet
};

}  // namespace am::link
