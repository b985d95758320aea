// One-sided access, and memory for it outside the segment.

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "am/link/fabric/fabric_link.h"
#include "am/types/clock.h"
#include "am/types/local_memory.h"
#include "rdma/error.h"

namespace am::link {
namespace {

std::string bad_memory(std::span<const std::byte> range, bool written) {
  return name_of(range) + " of this process cannot be " + (written ? "written" : "read") +
         rdma::remedy(FI_EFAULT);
}

}  // namespace

class FabricLink::Registered final : public Registration {
 public:
  // Part of the segment, which is registered for good.
  Registered(std::span<std::byte> range, RemoteKey key) noexcept : Registration(range, key) {}
  Registered(std::span<std::byte> range, rdma::RegistrationCache::Use use) noexcept
      : Registration(range, {use.key().base, use.key().key}), use_(std::move(use)) {}

  void revoke() noexcept override {
    if (use_) use_->revoke();
  }

 private:
  std::optional<rdma::RegistrationCache::Use> use_;
};

std::unique_ptr<Registration> FabricLink::register_memory(std::span<std::byte> range) {
  const std::string me = "rank " + std::to_string(options_.rank) + ": register_memory: ";
  if (range.empty()) throw Error(me + "no bytes; register at least one");
  if (in_segment(range)) {
    const rdma::RemoteKey key = segment_->key();
    const auto offset = static_cast<std::uint64_t>(range.data() - options_.segment.data());
    return std::make_unique<Registered>(range, RemoteKey{key.base + offset, key.key});
  }
  try {
    return std::make_unique<Registered>(range, registrations().acquire(range));
  } catch (const rdma::Error& error) {
    throw Error(me + error.what());
  }
}

// What `local` is passed with.
void* FabricLink::local_descriptor(Access& access, std::span<const std::byte> local, bool written) {
  if (fabric_->waits_for_bad_memory() && !in_segment(local) && !is_usable(local, written))
      [[unlikely]] {
    throw rdma::Error(bad_memory(local, written), FI_EFAULT);
  }
  if (!fabric_->needs_local_keys()) return nullptr;
  if (in_segment(local)) return segment_->descriptor();
  access.use.emplace(registrations().acquire({const_cast<std::byte*>(local.data()), local.size()}));
  return access.use->descriptor();
}

bool FabricLink::in_segment(std::span<const std::byte> range) const noexcept {
  const rdma::AddressRange whole = rdma::address_range(options_.segment);
  const rdma::AddressRange part = rdma::address_range(range);
  return part.begin >= whole.begin && part.end <= whole.end;
}

rdma::RegistrationCache& FabricLink::registrations() {
  if (registrations_) return *registrations_;
  try {
    monitor_.emplace();
  } catch (const rdma::Error& error) {
    no_monitor_ = error.what();
  }
  constexpr std::uint64_t kAll = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;
  return registrations_.emplace(rdma::RegistrationCache::Options{
      .make =
          [this](std::span<std::byte> range) {
            return rdma::Memory(*fabric_, range, kAll, &endpoint_.fid());
          },
      .monitor = monitor_ ? &*monitor_ : nullptr});
}

RegistrationStats FabricLink::registration_stats() const {
  if (!registrations_) return {};
  const rdma::RegistrationCache::Stats& stats = registrations_->stats();
  return {.used = stats.live - stats.idle,
          .kept = stats.idle,
          .bytes = stats.live_bytes,
          .hits = stats.hits,
          .misses = stats.misses,
          .not_kept = no_monitor_};
}

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

bool FabricLink::try_write_with_packet(const RmaAccess& access, Completion& completion) {
  const Rank to = access.peer;
  const std::span<const std::byte> from = access.local;
  const std::span<const std::byte> packet = access.packet;
  if (!has_room(to, from.size())) return false;
  Route& r = *routes_[to];
  Frame* const frame = claim_written(r, packet);
  if (frame == nullptr) return false;
  const std::span<const std::byte> bytes(frame->data, frame->bytes + packet.size());
  const std::uint32_t number = r.sent + 1;
  std::memcpy(frame->data + offsetof(FrameHeader, number), &number, sizeof number);
  const bool started = start_access(to, completion, [&](Access& write) {
    write.piece = from;
    const RemoteKey at = named(r, access.at);
    const std::uint64_t word = WrittenFrames::name(r.room.word, r.room.next, bytes.size());
    if (!endpoint_.try_put(r.address,
                           {{{from, local_descriptor(write, from, false), {at.base, at.key}},
                             {bytes, frame->descriptor, r.room.at()}}},
                           word, write.op)) {
      return false;
    }
    write.frame = frame;
    return true;
  });
  if (!started) return false;
  r.open = nullptr;
  r.room.take();
  r.sent = number;
  r.sent_ticks = ticks();
  r.streams = frame->commits != 0;
  stats_.sent += {1, frame->commits + 1, bytes.size(), 0};
  stats_.sent.accessed += from.size();
  return true;
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
