// libfabric's objects ("fids") that close themselves. Members of a class are closed in the reverse
// order of their declaration: declare what the others need first.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cassert>
#include <memory>

#include "rdma/library.h"

namespace rdma {

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

}  // namespace rdma
