#include "am/link/fabric/receives.h"

namespace am::link {

Receives::Receives(rdma::Fabric& fabric, rdma::Endpoint& endpoint, std::size_t frames,
                   std::size_t frame_bytes)
    : fabric_(fabric), endpoint_(endpoint), frame_bytes_(frame_bytes) {
  add(frames);
}

void Receives::add(std::size_t frames) {
  const rdma::Buffers& buffers = buffers_.emplace_back(fabric_, endpoint_, frames, frame_bytes_);
  refused_.reserve(slots_.size() + frames);  // so that renew() never allocates
  for (std::size_t i = 0; i < frames; ++i) {
    refused_.push_back(&slots_.emplace_back(buffers[i], buffers.descriptor()));
  }
  retry();
}

void Receives::renew(const rdma::Op& op) {
  refused_.push_back(&slot_of(op));
  retry();
}

void Receives::retry() {
  while (!refused_.empty()) {
    Slot& slot = *refused_.back();
    if (!endpoint_.try_receive(slot.buffer, slot.descriptor, slot.op)) return;
    refused_.pop_back();
  }
}

}  // namespace am::link
