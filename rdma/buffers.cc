#include "rdma/buffers.h"

#include <rdma/fi_domain.h>

#include <algorithm>
#include <new>

namespace rdma {
namespace {

constexpr std::align_val_t kAlignment{4096};

}  // namespace

void Buffers::Free::operator()(std::byte* data) const noexcept {
  ::operator delete(data, kAlignment);
}

Buffers::Buffers(std::size_t count, std::size_t bytes_each)
    : count_(count),
      bytes_each_(bytes_each),
      data_(static_cast<std::byte*>(::operator new(count* bytes_each, kAlignment))) {}

Buffers::Buffers(Fabric& fabric, Endpoint& endpoint, std::size_t count, std::size_t bytes_each)
    : Buffers(count, bytes_each) {
  if (!fabric.needs_local_keys()) return;
  memory_.emplace(fabric, std::span(data_.get(), count * bytes_each), FI_SEND | FI_RECV,
                  &endpoint.fid());
}

}  // namespace rdma
