// libfabric itself, loaded when it is first used; its objects and operations.
//
// Programs are not linked to it: those of one machine run where it is not installed, and do without
// what its dependencies do when they are loaded (Debian's libpsm measures the clock for 0.2 s).
// Everything else of libfabric is called through its objects, by the inline functions of its
// headers.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace rdma {

struct Library {
  decltype(&fi_getinfo) getinfo;
  decltype(&fi_freeinfo) freeinfo;
  decltype(&fi_dupinfo) dupinfo;  // of nullptr: a new one
  decltype(&::fi_fabric) fabric;
  decltype(&fi_version) version;
  const char* (*strerror)(int);

  // Any thread, but the first call sets a variable of the environment (FI_OFI_RXD_MAX_UNACKED),
  // which no other thread may read meanwhile. The signal handlers of the program stay as they are.
  // Throws Error: not installed, or another ABI.
  static const Library& get();
};

// "libfabric 2.6", as the library itself says.
std::string library_text();

// libfabric's objects ("fids") that close themselves. Members of a class are closed in the reverse
// order of their declaration: declare what the others need first.
template <class F>
struct CloseFid {
  void operator()(F* object) const {
    [[maybe_unused]] const int result = fi_close(&object->fid);
    assert(result != -FI_EBUSY && "closed before what was made from it");
  }
};

// Owns one fid: Fid<fid_domain>, Fid<fid_ep>, Fid<fid_cq>, ...
template <class F>
using Fid = std::unique_ptr<F, CloseFid<F>>;

struct FreeInfo {
  void operator()(fi_info* info) const { Library::get().freeinfo(info); }
};

// Owns an fi_info and those behind it in its list.
using Info = std::unique_ptr<fi_info, FreeInfo>;

// One operation. While it is in flight it must not move or end.
struct Op {
  enum class Kind : std::uint8_t { kSend, kReceive, kAccess };

  explicit Op(Kind kind) noexcept : kind(kind) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  static Op& of(void* context) noexcept { return *static_cast<Op*>(context); }

  // libfabric's own while the operation runs. First, so that its address is ours.
  fi_context2 context{};
  const Kind kind;
  bool in_flight = false;  // the endpoint's: started, and not reported yet
};
static_assert(std::is_standard_layout_v<Op>);

}  // namespace rdma
