#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "rdma/endpoint.h"
#include "rdma/memory.h"
#include "rdma/open_fabric.h"

namespace rdma {

// A row of equal buffers that an endpoint sends from or receives into, registered where the
// provider wants local memory registered. The first begins on a page boundary, each of the others
// where the one before it ends.
class Buffers {
 public:
  // `bytes_each` is a multiple of 8. Throws Error when the provider cannot register them.
  Buffers(Fabric& fabric, Endpoint& endpoint, std::size_t count, std::size_t bytes_each);
  // For a socket, which takes any memory.
  Buffers(std::size_t count, std::size_t bytes_each);

  std::span<std::byte> operator[](std::size_t i) const noexcept {
    return {data_.get() + i * bytes_each_, bytes_each_};
  }
  std::span<std::byte> all() const noexcept { return {data_.get(), count_ * bytes_each_}; }
  std::size_t size() const noexcept { return count_; }
  void* descriptor() const noexcept { return memory_ ? memory_->descriptor() : nullptr; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept;
  };

  std::size_t count_;
  std::size_t bytes_each_;
  std::unique_ptr<std::byte, Free> data_;
  std::optional<Memory> memory_;  // closed before data_ is freed
};

}  // namespace rdma
