#include "am/link/fabric/frames.h"

#include <bit>
#include <cstring>
#include <iterator>

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

FrameSlab::FrameSlab(rdma::Fabric& fabric, rdma::Endpoint& endpoint, std::size_t frame_bytes)
    : buffers_(fabric, endpoint, kFrames, frame_bytes) {
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    frames_.emplace_back(*this, buffers_[i], buffers_.descriptor());
  }
}

Frame& FrameSlab::take() noexcept {
  Frame& frame = frames_[static_cast<std::size_t>(std::countr_zero(free_))];
  free_ &= free_ - 1;
  return frame;
}

void FrameSlab::give_back(const Frame& frame) noexcept {
  const auto at = (frame.data - buffers_[0].data()) / static_cast<std::ptrdiff_t>(frame.capacity);
  free_ |= std::uint32_t{1} << at;
}

Frame& FramePool::take(Route& route, const FrameHeader& header) {
  if (ready_.empty()) {
    ready_.emplace_front(fabric_, endpoint_, frame_bytes_);
    ready_.front().place = ready_.begin();
    ++unused_;
  }
  FrameSlab& slab = ready_.front();
  if (slab.unused()) --unused_;
  Frame& frame = slab.take();
  if (slab.exhausted()) exhausted_.splice(exhausted_.begin(), ready_, slab.place);
  frame.route = &route;
  frame.bytes = sizeof header;
  frame.commits = 0;
  std::memcpy(frame.data, &header, sizeof header);
  return frame;
}

void FramePool::give_back(Frame& frame) noexcept {
  FrameSlab& slab = frame.slab;
  if (slab.exhausted()) ready_.splice(ready_.begin(), exhausted_, slab.place);
  slab.give_back(frame);
  if (!slab.unused()) return;
  ready_.splice(ready_.end(), ready_, slab.place);
  if (++unused_ <= kept()) return;
  --unused_;
  ready_.pop_back();
}

}  // namespace am::link
