#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include "am/types/types.h"

namespace splitc::detail {

// Updates for one process that leave together. Its memory is made when it is first needed, and its
// capacity said then. An Update travels as bytes (pack.h).
template <class Update>
class UpdateBlock {
 public:
  UpdateBlock() = default;
  UpdateBlock(UpdateBlock&& other) noexcept { *this = std::move(other); }
  UpdateBlock& operator=(UpdateBlock&& other) noexcept {
    memory_ = std::move(other.memory_);
    first_ = std::exchange(other.first_, nullptr);
    next_ = std::exchange(other.next_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    return *this;
  }
  ~UpdateBlock() = default;

  // Whether nothing more fits; true also while there is no memory.
  bool is_full() const noexcept { return next_ == end_; }
  bool has_memory() const noexcept { return memory_ != nullptr; }
  void allocate(std::size_t capacity) {
    memory_ = am::Owned<std::byte[]>(new std::byte[capacity * sizeof(Update)]);
    first_ = next_ = reinterpret_cast<Update*>(memory_.get());
    end_ = first_ + capacity;
  }
  // Not if it is full.
  void add(const Update& update) noexcept { ::new (static_cast<void*>(next_++)) Update(update); }

  std::span<const Update> updates() const noexcept { return {first_, next_}; }
  void clear() noexcept { first_ = next_ = reinterpret_cast<Update*>(memory_.get()); }
  // Takes off the oldest one, whose memory stays. So an update whose function throws is not applied
  // again.
  const Update& take() noexcept { return *first_++; }

 private:
  am::Owned<std::byte[]> memory_;
  Update* first_ = nullptr;
  Update* next_ = nullptr;
  Update* end_ = nullptr;
};

}  // namespace splitc::detail
