#include "am/link/frames.h"

#include <cstring>

namespace am::link {

void FrameQueue::push(Frame& frame) noexcept {
  frame.next = nullptr;
  (first_ == nullptr ? first_ : last_->next) = &frame;
  last_ = &frame;
  ++size_;
}

void FrameQueue::push_front(Frame& frame) noexcept {
  frame.next = first_;
  if (first_ == nullptr) last_ = &frame;
  first_ = &frame;
  ++size_;
}

void FrameQueue::pop() noexcept {
  first_ = first_->next;
  --size_;
}

Frame& FramePool::take(Route& route, const FrameHeader& header) {
  if (free_.empty()) grow();
  Frame& frame = *free_.back();
  free_.pop_back();
  frame.route = &route;
  frame.bytes = sizeof header;
  std::memcpy(frame.data, &header, sizeof header);
  return frame;
}

void FramePool::grow() {
  const rdma::Buffers& slab = slabs_.emplace_back(fabric_, endpoint_, kSlab, Frame::kBytes);
  frames_.reserve(frames_.size() + kSlab);
  free_.reserve(frames_.size() + kSlab);  // so that give_back() never allocates
  for (std::size_t i = 0; i < kSlab; ++i) {
    frames_.push_back(std::make_unique<Frame>(slab[i].data(), slab.descriptor()));
    free_.push_back(frames_.back().get());
  }
}

}  // namespace am::link
