#include "am/link/receives.h"

#include <algorithm>
#include <bit>

namespace am::link {
namespace {

constexpr std::size_t kManyBytes = 256 * 1024;  // of a buffer for many frames
constexpr std::size_t kFewest = 4;              // so that one is refilled while others fill up

std::size_t buffer_bytes(bool many) { return many ? kManyBytes : Frame::kBytes; }

std::size_t buffer_count(bool many, std::size_t frames) {
  return std::max(kFewest, frames * Frame::kBytes / buffer_bytes(many));
}

}  // namespace

Receives::Receives(rdma::Fabric& fabric, rdma::Endpoint& endpoint, std::size_t frames)
    : many_(fabric.has_multi_recv()),
      endpoint_(endpoint),
      buffers_(fabric, endpoint, buffer_count(many_, frames), buffer_bytes(many_)) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    rooms_.emplace_back(buffers_[i]);
    refused_.push_back(&rooms_.back());
  }
  retry();
}

std::span<const std::byte> Receives::frame(const rdma::Op& op, void* at,
                                           std::size_t bytes) const noexcept {
  const std::byte* const data = many_ ? static_cast<std::byte*>(at) : room_of(op).bytes.data();
  return {data, bytes};
}

void Receives::renew(const rdma::Op& op) {
  refused_.push_back(&room_of(op));
  retry();
}

void Receives::retry() {
  while (!refused_.empty()) {
    Room& room = *refused_.back();
    if (!endpoint_.try_receive(room.bytes, buffers_.descriptor(), room.op)) return;
    refused_.pop_back();
  }
}

}  // namespace am::link
