// One-sided access.

#include <rdma/fi_domain.h>

#include "am/link/fabric_link.h"
#include "rdma/error.h"

namespace am::link {

FabricLink::~FabricLink() { endpoint_.close(); }

FabricLink::Access* FabricLink::take_access(Rank rank, Completion& completion) {
  if (free_accesses_.empty()) {
    if (accesses_.size() == kMaxAccessesUnderWay) return nullptr;
    accesses_.push_back(std::make_unique<Access>());
    free_accesses_.reserve(accesses_.size());
    free_accesses_.push_back(accesses_.back().get());
  }
  Access* const access = free_accesses_.back();
  free_accesses_.pop_back();
  access->completion = &completion;
  access->rank = rank;
  return access;
}

void FabricLink::give_back(Access& access) {
  access.temporary.reset();
  free_accesses_.push_back(&access);
}

// What `local` is passed with. Memory outside the segment is registered for this access alone.
void* FabricLink::local_descriptor(Access& access, std::span<const std::byte> local) {
  if (!fabric_->needs_local_keys()) return nullptr;
  const std::byte* const first = options_.segment.data();
  if (local.data() >= first && local.data() + local.size() <= first + options_.segment.size()) {
    return segment_->descriptor();
  }
  const std::span<std::byte> range(const_cast<std::byte*>(local.data()), local.size());
  access.temporary.emplace(*fabric_, range, FI_READ | FI_WRITE, &endpoint_.fid());
  return access.temporary->descriptor();
}

bool FabricLink::try_read(Rank from, std::uint64_t offset, std::span<std::byte> to,
                          Completion& completion) {
  return try_read(from, segments_[from] + offset, to, completion);
}

bool FabricLink::try_write(Rank to, std::uint64_t offset, std::span<const std::byte> from,
                           bool before_packets, Completion& completion) {
  return try_write(to, segments_[to] + offset, from, before_packets, completion);
}

// Runs `start`, which begins an operation that is reported with the access it is given, or says
// that there is no room.
template <class Start>
bool FabricLink::start_access(Rank rank, Completion& completion, Start start) {
  Access* const access = take_access(rank, completion);
  if (access == nullptr) return false;
  try {
    if (start(*access)) return true;
  } catch (const rdma::Error& error) {
    lose(rank, error.what());
  }
  give_back(*access);
  return false;
}

bool FabricLink::try_read(Rank from, const RemoteKey& at, std::span<std::byte> to,
                          Completion& completion) {
  return start_access(from, completion, [&](Access& access) {
    return endpoint_.try_read(route(from).address, {at.base, at.key}, 0, to,
                              local_descriptor(access, to), access.op);
  });
}

bool FabricLink::try_write(Rank to, const RemoteKey& at, std::span<const std::byte> from,
                           bool before_packets, Completion& completion) {
  return start_access(to, completion, [&](Access& access) {
    return endpoint_.try_write(route(to).address, {at.base, at.key}, 0, from,
                               local_descriptor(access, from), !before_packets, access.op);
  });
}

bool FabricLink::try_put(Rank to, std::uint64_t offset, std::span<const std::byte> from,
                         std::uint32_t arrival, Completion& completion) {
  const RemoteKey at = segments_[to] + offset;
  if (from.size() > fabric_->inject_bytes()) {
    return start_access(to, completion, [&](Access& access) {
      return endpoint_.try_put(route(to).address, {at.base, at.key}, from,
                               local_descriptor(access, from), arrival, access.op);
    });
  }
  try {
    if (!endpoint_.try_inject_put(route(to).address, {at.base, at.key}, from, arrival)) {
      return false;
    }
  } catch (const rdma::Error& error) {
    lose(to, error.what());
    return false;
  }
  completion.done(completion);
  return true;
}

void FabricLink::complete(const rdma::Op& op) {
  Access& access = Access::of(op);
  Completion& completion = *access.completion;
  give_back(access);
  completion.done(completion);
}

Rank FabricLink::rank_of(const rdma::Op& op) const {
  return op.kind == rdma::Op::Kind::kSend ? Frame::of(op).route->rank : Access::of(op).rank;
}

bool FabricLink::busy() const noexcept {
  return under_way_ != 0 || !unsent_.empty() || free_accesses_.size() != accesses_.size();
}

}  // namespace am::link
