// One registered range of memory and its remote key. libfabric's mr_mode ends here: what is above
// knows a base and a key, not how the provider addresses memory or who chooses keys.
#pragma once

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "rdma/fabric.h"
#include "rdma/fid.h"

namespace rdma {

// What another process needs to reach the range. Plain bytes, to be sent to the others.
// Byte i of the range has the remote address base + i.
struct RemoteKey {
  std::uint64_t base;
  std::uint64_t key;

  bool operator==(const RemoteKey&) const = default;
};

class Memory {
 public:
  // Registers `range`, which must stay mapped until the destructor has run. `access`:
  // FI_REMOTE_READ, FI_REMOTE_WRITE for others, FI_READ, FI_WRITE, FI_SEND, FI_RECV for the own
  // side. `endpoint`: where it will be used; needed only when fabric.binds_memory(), enabled
  // already. Hardware pins the range: all its pages are allocated then. Throws Error: pinned memory
  // or keys short, with limit and remedy; a key too long to be sent.
  Memory(const Fabric& fabric, std::span<std::byte> range, std::uint64_t access,
         fid_ep* endpoint = nullptr);

  RemoteKey key() const { return key_; }

  // What local buffers inside the range are passed with; nullptr where the provider needs none.
  void* descriptor() const { return descriptor_; }

  std::span<std::byte> range() const { return range_; }

 private:
  std::span<std::byte> range_;
  Fid<fid_mr> region_;
  RemoteKey key_{};
  void* descriptor_ = nullptr;
};

static_assert(std::is_trivially_copyable_v<RemoteKey> && sizeof(RemoteKey) == 16);

}  // namespace rdma
