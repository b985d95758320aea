// One-sided access.

#include <algorithm>
#include <utility>

#include "am/link/fabric_link.h"
#include "am/types/ticks.h"
#include "rdma/error.h"

namespace am::link {

FabricLink::~FabricLink() { endpoint_.close(); }

FabricLink::Access* FabricLink::take_access(Rank rank, Completion& completion) {
  Route& to = route(rank);
  if (!accesses_in_flight_.available(to.accesses)) return nullptr;
  Access& access = accesses_.take([](Access&, std::uint32_t) {});
  accesses_in_flight_.take(to.accesses);
  access.completion = &completion;
  access.rank = rank;
  access.at = segments_[rank];
  return &access;
}

void FabricLink::give_back(Access& access) {
  accesses_in_flight_.give_back(routes_[access.rank]->accesses);
  access.use.reset();
  access.rest = {};
  accesses_.give_back(access);
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
    not_started(rank, error);
  }
  give_back(*access);
  return false;
}

bool FabricLink::try_read(Rank from, const RemoteKey& at, std::span<std::byte> to,
                          Completion& completion) {
  return try_access(from, at, to, How::kRead, completion);
}

bool FabricLink::try_write(Rank to, const RemoteKey& at, std::span<const std::byte> from,
                           bool before_packets, Completion& completion) {
  const How how = before_packets ? How::kWriteBeforePackets : How::kWrite;
  return try_access(to, at, from, how, completion);
}

bool FabricLink::try_access(Rank rank, const RemoteKey& at, std::span<const std::byte> local,
                            How how, Completion& completion) {
  return start_access(rank, completion, [&](Access& access) {
    access.descriptor = local_descriptor(access, local);
    access.rest = {const_cast<std::byte*>(local.data()), local.size()};
    access.at = at;
    access.how = how;
    return try_next_piece(access);
  });
}

bool FabricLink::try_next_piece(Access& access) {
  const fi_addr_t peer = route(access.rank).address;
  const rdma::RemoteKey at{access.at.base, access.at.key};
  const std::span<std::byte> piece =
      access.rest.first(std::min(access.rest.size(), longest_access_));
  const bool started = access.how == How::kRead
                           ? endpoint_.try_read(peer, at, 0, piece, access.descriptor, access.op)
                           : endpoint_.try_write(peer, at, 0, piece, access.descriptor,
                                                 access.how == How::kWrite, access.op);
  if (!started) return false;
  access.rest = access.rest.subspan(piece.size());
  access.at = access.at + piece.size();
  return true;
}

void FabricLink::go_on(Access& access) {
  try {
    if (!try_next_piece(access)) unfinished_.push_back(&access);
  } catch (const rdma::Error& error) {
    not_started(access.rank, error);
  }
}

void FabricLink::go_on_with_unfinished() {
  for (Access* const access : std::exchange(unfinished_, {})) go_on(*access);
}

bool FabricLink::try_put(Rank to, std::uint64_t offset, std::span<const std::byte> from,
                         std::uint64_t word, Completion& completion) {
  const RemoteKey at = segments_[to] + offset;
  if (from.size() > fabric_->inject_bytes()) {
    return start_access(to, completion, [&](Access& access) {
      return endpoint_.try_put(route(to).address, {at.base, at.key}, from,
                               local_descriptor(access, from), word, access.op);
    });
  }
  try {
    if (!endpoint_.try_inject_put(route(to).address, {at.base, at.key}, from, word)) {
      return false;
    }
  } catch (const rdma::Error& error) {
    not_started(to, error);
    return false;
  }
  routes_[to]->sent_ticks = ticks();
  completion.done(completion);
  return true;
}

void FabricLink::complete(const rdma::Op& op) {
  Access& access = Access::of(op);
  if (!access.rest.empty()) [[unlikely]]
    return go_on(access);
  Completion& completion = *access.completion;
  give_back(access);
  completion.done(completion);
}

Rank FabricLink::rank_of(const rdma::Op& op) const {
  return op.kind == rdma::Op::Kind::kSend ? Frame::of(op).route->rank : Access::of(op).rank;
}

bool FabricLink::busy() const noexcept {
  return frames_in_flight_.total() != 0 || !unsent_.empty() || accesses_in_flight_.total() != 0;
}

}  // namespace am::link
