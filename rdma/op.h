#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <type_traits>

namespace rdma {

// One operation. While it is in flight it must not move or end.
struct Op {
  enum class Kind : std::uint8_t { kSend, kReceive, kAccess };

  explicit Op(Kind kind) noexcept : kind(kind) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  static Op& of(void* context) noexcept { return *static_cast<Op*>(context); }

  fi_context2
      context{};  // libfabric's own while the operation runs; first, so that its address is ours
  const Kind kind;
  bool in_flight = false;  // the endpoint's: started, and not reported yet
};
static_assert(std::is_standard_layout_v<Op>);

}  // namespace rdma
