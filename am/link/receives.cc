#include "am/link/receives.h"

namespace am::link {

Receives::Receives(rdma::Fabric& fabric, rdma::Endpoint& endpoint, std::size_t frames)
    : endpoint_(endpoint), buffers_(fabric, endpoint, frames, Frame::kBytes) {
  refused_.reserve(frames);
  for (std::size_t i = 0; i < frames; ++i) {
    slots_.emplace_back(buffers_[i]);
    refused_.push_back(&slots_.back());
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
    if (!endpoint_.try_receive(slot.buffer, buffers_.descriptor(), slot.op)) return;
    refused_.pop_back();
  }
}

}  // namespace am::link
