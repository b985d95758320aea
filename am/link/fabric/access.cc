// One-sided access.

#include <algorithm>
#include <utility>

#include "am/link/fabric/fabric_link.h"
#include "am/types/clock.h"
#include "rdma/error.h"

namespace am::link {

FabricLink::~FabricLink() { endpoint_.close(); }

FabricLink::Access* FabricLink::take_access(Rank rank, Completion& completion) {
  Route& to = route(rank);
  if (!accesses_in_flight_.available(to.accesses)) return nullptr;
  Access& access = accesses_.take([](Access&, std::uint32_t) {});
  accesses_in_flight_.take(to.accesses);
  access.completion = &completion;
  access.rest.peer = rank;
  access.rest.at = to.segment;
  return &access;
}

void FabricLink::give_back(Access& access) {
  if (access.completion != nullptr) {
    accesses_in_flight_.give_back(routes_[access.rest.peer]->accesses);
  }
  access.completion = nullptr;
  if (access.frame != nullptr) frames_.give_back(*std::exchange(access.frame, nullptr));
  access.use.reset();
  access.rest = {};
  accesses_.give_back(access);
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

// Part of try_access(), which nearly every access goes through.
[[gnu::always_inline]] inline bool FabricLink::try_next_piece(Access& access) {
  RmaAccess& rest = access.rest;
  if (routes_[rest.peer]->dead) [[unlikely]] {
    unfinished_.push_back(&access);  // ends with the next poll
    return true;
  }
  const fi_addr_t peer = routes_[rest.peer]->address;
  const rdma::RemoteKey at{rest.at.base, rest.at.key};
  const auto piece = rest.local.first(std::min(rest.local.size(), longest_access_));
  // What is notified of is visible before the last piece, which carries the word.
  const bool notifies =
      rest.kind == RmaAccess::kWriteAndNotify && piece.size() == rest.local.size();
  const bool started =
      notifies ? endpoint_.try_put(peer, at, piece, access.descriptor, rest.word, access.op)
      : rest.kind == RmaAccess::kRead
          ? endpoint_.try_read(peer, at, 0, piece, access.descriptor, access.op)
          : endpoint_.try_write(peer, at, 0, piece, access.descriptor,
                                rest.kind != RmaAccess::kWriteBeforePackets, access.op);
  if (!started) return false;
  access.piece = piece;
  stats_.sent.accessed += piece.size();
  rest.local = rest.local.subspan(piece.size());
  rest.at = rest.at + piece.size();
  return true;
}

bool FabricLink::try_access(const RmaAccess& access, Completion& completion) {
  if (access.kind == RmaAccess::kWriteAndNotify && access.local.size() <= fabric_->inject_bytes()) {
    return try_inject(route(access.peer), access, completion);
  }
  if (access.kind == RmaAccess::kWriteWithPacket) return try_write_with_packet(access, completion);
  return start_access(access.peer, completion, [&](Access& started) {
    started.descriptor = local_descriptor(started, access.local, access.kind == RmaAccess::kRead);
    started.rest = access;
    started.rest.at = named(*routes_[access.peer], access.at);
    return try_next_piece(started);
  });
}

void FabricLink::go_on(Access& access) {
  if (routes_[access.rest.peer]->dead) [[unlikely]]
    return end(access);
  try {
    if (!try_next_piece(access)) unfinished_.push_back(&access);
  } catch (const rdma::Error& error) {
    not_started(access.rest.peer, error);
    unfinished_.push_back(&access);
  }
}

// Nothing of it is at the network.
void FabricLink::end(Access& access) {
  Completion* const completion = access.completion;
  give_back(access);
  if (completion == nullptr) return;
  ++progress_;
  link::complete(*completion);
}

// Where the network had nothing more to report, so that what the dead had sent has been read. What
// it reports later is nobody's.
void FabricLink::end_accesses_of_dead() {
  buries_ = false;
  std::vector<Completion*> ended;
  for (std::size_t number = 0; number < accesses_.size(); ++number) {
    Access& access = accesses_[static_cast<std::uint32_t>(number)];
    if (access.completion == nullptr || !routes_[access.rest.peer]->dead) continue;
    if (std::ranges::find(unfinished_, &access) != unfinished_.end()) continue;
    accesses_in_flight_.give_back(routes_[access.rest.peer]->accesses);
    ended.push_back(std::exchange(access.completion, nullptr));
  }
  for (Completion* const completion : ended) {
    ++progress_;
    link::complete(*completion);
  }
}

void FabricLink::go_on_with_unfinished() {
  for (Access* const access : std::exchange(unfinished_, {})) go_on(*access);
}

// A few bytes, of which nothing is reported, and nothing has to be kept.
bool FabricLink::try_inject(Route& route, const RmaAccess& access, Completion& completion) {
  const RemoteKey at = named(route, access.at);
  try {
    if (!route.dead &&
        !endpoint_.try_inject_put(route.address, {at.base, at.key}, access.local, access.word)) {
      return false;
    }
  } catch (const rdma::Error& error) {
    not_started(route.rank, error);
    return false;
  }
  stats_.sent.accessed += access.local.size();
  route.sent_ticks = ticks();
  link::complete(completion);
  return true;
}

void FabricLink::complete(const rdma::Op& op) {
  Access& access = Access::of(op);
  if (access.completion == nullptr) [[unlikely]]
    return give_back(access);  // of the dead
  if (!access.rest.local.empty()) [[unlikely]] {
    ++stats_.sent.pieces;
    return go_on(access);
  }
  Completion& completion = *access.completion;
  give_back(access);
  link::complete(completion);
}

Rank FabricLink::rank_of(const rdma::Op& op) const {
  return op.kind == rdma::Op::Kind::kSend ? Frame::of(op).route->rank : Access::of(op).rest.peer;
}

bool FabricLink::busy() const noexcept {
  return frames_in_flight_.total() != 0 || !unsent_.empty() || accesses_in_flight_.total() != 0;
}

}  // namespace am::link
