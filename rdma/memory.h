// Registered memory and its remote keys. libfabric's mr_mode ends here: what is above
// knows a base and a key, not how the provider addresses memory nor who chooses keys.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "rdma/library.h"
#include "rdma/open_fabric.h"

namespace rdma {

class Endpoint;

// What another process needs to reach the range. Plain bytes, to be sent to the others.
// Byte i of the range has the remote address base + i.
struct RemoteKey {
  std::uint64_t base;
  std::uint64_t key;

  bool operator==(const RemoteKey&) const = default;
};
static_assert(std::is_trivially_copyable_v<RemoteKey> && sizeof(RemoteKey) == 16);

// How a domain wants memory to be registered.
struct MemoryRules {
  fid_domain* domain;
  const char* provider;   // for sentences
  int mode;               // FI_MR_ bits
  std::size_t key_bytes;  // length of its keys
};

class Memory {
 public:
  // Registers `range`, which must stay mapped until the destructor has run. `access`:
  // FI_REMOTE_READ, FI_REMOTE_WRITE for others, FI_READ, FI_WRITE, FI_SEND, FI_RECV for this side.
  // `endpoint`: where it will be used; may be nullptr unless the provider binds memory
  // to endpoints (FI_MR_ENDPOINT).
  // Hardware pins the range: all its pages are allocated then.
  // Throws Error: pinned memory or keys short, with limit and remedy; keys too long to be sent.
  Memory(const Fabric& fabric, std::span<std::byte> range, std::uint64_t access,
         fid_ep* endpoint = nullptr);
  Memory(const MemoryRules& rules, std::span<std::byte> range, std::uint64_t access,
         fid_ep* endpoint = nullptr);

  // Good for FI_REMOTE_READ and FI_REMOTE_WRITE only, as far as `access` had them.
  RemoteKey key() const { return key_; }

  // What buffers inside the range are passed with on this side; nullptr where none is needed.
  void* descriptor() const { return descriptor_; }

 private:
  Fid<fid_mr> region_;
  RemoteKey key_{};
  void* descriptor_ = nullptr;
};

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
