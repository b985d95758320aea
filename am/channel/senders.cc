#include "am/channel/senders.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "am/channel/ends.h"
#include "am/core/bundle.h"
#include "am/core/far/messages.h"
#include "am/core/process.h"
#include "am/observe/call_sites.h"
#include "am/observe/event.h"
#include "am/observe/trace.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "am/types/forked.h"
#include "shmem/region.h"

namespace am {

namespace {

// At each opening: more than one, so that the list shrinks while channels are opened and closed.
constexpr std::size_t kChecks = 4;

}  // namespace

ChannelSeats::ChannelSeats(const Router& router) : router_(router) {}

shmem::ArrivalSeats& ChannelSeats::seats_of(Rank rank) {
  std::unique_ptr<shmem::ArrivalSeats>& seats = boards_[rank].seats;
  if (!seats) {
    seats = std::make_unique<shmem::ArrivalSeats>(router_.peer(rank).header->puts,
                                                  router_.arrival_pair(rank));
  }
  return *seats;
}

shmem::ArrivalSeat ChannelSeats::take(Rank rank) {
  const std::lock_guard lock(mutex_);
  reclaim(rank, kChecks);
  try {
    return seats_of(rank).take();
  } catch (const shmem::Error&) {
    reclaim(rank, boards_[rank].retired.size());
    return seats_of(rank).take();
  }
}

void ChannelSeats::give_back(Rank rank, const shmem::ArrivalSeat& seat) {
  const std::lock_guard lock(mutex_);
  seats_of(rank).give_back(seat);
}

void ChannelSeats::retire(Rank rank, const shmem::ArrivalSeat& seat, const shmem::Arrival& last) {
  const std::lock_guard lock(mutex_);
  std::deque<Retired>& retired = boards_[rank].retired;
  if (retired.empty()) waiting_.push_back(rank);
  retired.push_back({seat, last});
  any_waiting_.store(true, std::memory_order_relaxed);
}

// Whether the receiver has seen the last word, or a later one of the same channel, or has closed
// it.
bool ChannelSeats::seen(Rank rank, const shmem::Arrival& last) const noexcept {
  const shmem::Arrival state =
      detail::state_of(router_.peer(rank).header->puts.states[last.number]);
  return detail::is_stale(state, last.generation) ||
         static_cast<std::int32_t>(state.count - last.count) >= 0;
}

void ChannelSeats::reclaim(Rank rank, std::size_t checks) {
  std::deque<Retired>& retired = boards_[rank].retired;
  if (retired.empty()) return;
  for (std::size_t left = std::min(checks, retired.size()); left > 0; --left) {
    const Retired one = retired.front();
    retired.pop_front();
    if (seen(rank, one.last)) {
      seats_of(rank).give_back(one.seat);
    } else {
      retired.push_back(one);
    }
  }
  if (!retired.empty()) return;
  std::erase(waiting_, rank);
  any_waiting_.store(!waiting_.empty(), std::memory_order_relaxed);
}

void ChannelSeats::reclaim_next() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return;
  turn_ = (turn_ + 1) % waiting_.size();
  reclaim(waiting_[turn_], 1);
}

namespace {

// Most bytes of a put that goes as a packet where others are gathered for the same process.
constexpr std::size_t kGathered = 1024;

}  // namespace

ChannelSenders::ChannelSenders(Bundle& bundle, ChannelSeats& seats)
    : bundle_(bundle), router_(bundle.router()), seats_(seats) {}

void ChannelSenders::refuse(Call call, const ChannelHandle& handle, const std::string& what) const {
  check_not_forked(call);
  bundle_.refuse(call, detail::describe(handle) + ": " + what);
}

void ChannelSenders::open(End& end) {
  const ChannelHandle& handle = end.handle;
  if (handle.magic != ChannelHandle::kMagic || handle.generation == 0) {
    bundle_.refuse("SendChannel",
                   "this is no handle of a channel; pass all bytes of ReceiveChannel::handle()");
  }
  if (handle.rank >= router_.size() || handle.offset > router_.segment_bytes() ||
      !handle.shape.fits(router_.segment_bytes() - handle.offset)) {
    refuse("SendChannel", handle, "the handle is damaged, or of another job");
  }
  end.bytes = handle.shape.bytes();
  if (router_.is_near(handle.rank)) open_near(end);
  end.place = ends_.size();
  ends_.push_back(&end);
}

void ChannelSenders::open_near(End& end) {
  const ChannelHandle& handle = end.handle;
  const Peer& peer = router_.peer(handle.rank);
  end.state = &peer.header->puts.states[handle.number];
  if (detail::is_stale(detail::state_of(*end.state), handle.generation)) {
    refuse("SendChannel", handle, "the receiver has closed it; ask it for a new handle");
  }
  try {
    end.seat = seats_.take(handle.rank);
  } catch (const shmem::Error& error) {
    refuse("SendChannel", handle, error.what());
  }
  end.target = peer.segment + handle.offset;
}

void ChannelSenders::close(End& end) {
  wait_for_last(end);
  ends_[end.place] = ends_.back();
  ends_[end.place]->place = end.place;
  ends_.pop_back();
}

void ChannelSenders::wait_for_last(End& end) {
  if (end.near()) {
    const shmem::Arrival last{end.handle.number, end.handle.generation, end.announced};
    if (end.puts == 0) {
      seats_.give_back(end.handle.rank, end.seat);
    } else {
      seats_.retire(end.handle.rank, end.seat, last);
    }
    end.target = nullptr;
    return;
  }
  if (end.all_left()) return;
  if (bundle_.handling()) {
    refuse("SendChannel::close", end.handle,
           "a put has not left its source yet, and a handler or callback may not wait for that");
  }
  bundle_.wait_until([&end] { return end.all_left(); }, Wake::kRung,
                     [&end] {
                       return Reason{.call = "SendChannel::close",
                                     .needs = "the end of a put",
                                     .peer = end.handle.rank};
                     });
}

// Of checked builds: what the receiver says of the channel.
void ChannelSenders::check(const End& end, Call call) const {
  const shmem::Arrival state = detail::state_of(*end.state);
  if (detail::is_stale(state, end.handle.generation)) {
    refuse(call, end.handle, "the receiver has closed it; a put would write into other memory");
  }
  const auto free = static_cast<std::uint16_t>(detail::State::kFree);
  if (state.count == end.announced && state.number == free) return;
  refuse(call, end.handle,
         state.count == end.announced
             ? "the receiver has not called ready() since the last one"
             : "the receiver has not been told of the last one yet; wait for its ready()");
}

void ChannelSenders::put(End& end, CheckedCall call) {
  if (is_observed()) [[unlikely]]
    return put_noted(end, call);
  start(end, call);
}

void ChannelSenders::put_noted(End& end, CheckedCall call) {
  if (CallSites* const sites = active_call_sites(); sites != nullptr && !end.near()) {
    sites->count("put of a channel", end.handle.rank, end.bytes);
  }
  if (Trace* const trace = active_trace()) {
    put_traced(*trace, end, call);
  } else {
    start(end, call);
  }
}

void ChannelSenders::put_traced(Trace& trace, End& end, CheckedCall call) {
  const TracedCall traced(trace);
  start(end, call);
  const std::uint64_t number = end.near() ? end.announced : detail::number_by_network(end.puts);
  traced.record(TraceKind::kChannelPut, trace.name_of("put"),
                {.flow = channel_flow(end.handle.rank, detail::arrival_of(end.handle), number),
                 .peer = end.handle.rank,
                 .bytes = end.bytes});
}

[[gnu::always_inline]] inline void ChannelSenders::start(End& end, CheckedCall call) {
  if (end.source_count == 0) [[unlikely]] {
    refuse(named(call, "put"), end.handle,
           "nothing has been associated; associate() says what to send");
  }
  if (end.near()) [[likely]]
    return put_near(end, end.source_of(end.puts), call);
  ++end.puts;
  if (!end.waiting && try_start(end)) return;
  if (!std::exchange(end.waiting, true)) waiting_.push_back(&end);
}

void ChannelSenders::put_near(End& end, const End::Source& source, CheckedCall call) {
  // By now all puts of an earlier sender have been reported, which need not be so at open_near().
  if (end.puts == 0) [[unlikely]]
    end.announced = detail::state_of(*end.state).count;
  if constexpr (kChecked) check(end, named(call, "put"));
  if (source.in_one_piece) [[likely]] {
    std::memcpy(end.target, source.first, end.bytes);
  } else {
    copy(end.target, end.handle.shape, source.first, source.shape);
  }
  ++end.puts;
  end.seat.announce({end.handle.number, end.handle.generation, ++end.announced}, router_.fence());
  router_.notify(end.handle.rank);
}

// The oldest put that has not started. False: no room now.
bool ChannelSenders::try_start(End& end) {
  const Port::Lock network(*router_.port());
  link::Link& link = router_.port()->link();
  const End::Source& source = end.source_of(end.started);
  const std::size_t bytes = end.bytes;
  // Small ones that come close together are better off in a frame than each in a write.
  const bool in_company = bytes <= kGathered && link.can().emulated &&
                          link.queue(end.handle.rank) == link::Queue::kOpen;
  if (source.in_long_rows && link.can().ordered_write != 0) return try_write_rows(end, source);
  if (!source.in_one_piece || bytes > link.can().notified_write || in_company) {
    return try_send_pieces(end, source);
  }
  const auto write =
      link::RmaAccess::notify(end.handle.rank, link::RemoteKey::in_segment(end.handle.offset),
                              {source.first, bytes}, end.handle.word);
  if (!try_write(end, write)) return false;
  ++end.started;
  return true;
}

bool ChannelSenders::try_write(End& end, const link::RmaAccess& access) {
  Write& write = writes_.take([this](Write& made, std::uint32_t) {
    made.owner = this;
    made.done = &left;
    made.home = home_of(bundle_);
  });
  write.end = &end;
  ++end.under_way;  // it may be done at once
  if (router_.port()->link().try_access(access, write)) return true;
  left(write);
  return false;
}

void ChannelSenders::left(link::Completion& completion) {
  auto& write = static_cast<Write&>(completion);
  --write.end->under_way;
  write.owner->writes_.give_back(write);
}

// Each where it belongs, uncopied. A packet behind them says that all have come.
bool ChannelSenders::try_write_rows(End& end, const End::Source& source) {
  link::Link& link = router_.port()->link();
  const Rank to = end.handle.rank;
  while (end.sent != end.bytes) {
    const Strided::Piece from = source.shape.piece_at(end.sent);
    const Strided::Piece at = end.handle.shape.piece_at(end.sent);
    const std::uint64_t bytes = std::min({from.bytes, at.bytes, link.can().ordered_write});
    if (!try_write(end, link::RmaAccess::write(
                            to, link::RemoteKey::in_segment(end.handle.offset + at.offset),
                            {source.first + from.offset, bytes}, true))) {
      return false;
    }
    end.sent += bytes;
  }
  if (link.queue(to) == link::Queue::kFull) return false;
  send_piece(end, source, 0);
  end.sent = 0;
  ++end.started;
  return true;
}

bool ChannelSenders::try_send_pieces(End& end, const End::Source& source) {
  link::Link& link = router_.port()->link();
  const std::uint64_t all = end.bytes;
  do {
    if (link.queue(end.handle.rank) == link::Queue::kFull) return false;
    const auto bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(all - end.sent, link::kMaxData));
    send_piece(end, source, bytes);
    end.sent += bytes;
  } while (end.sent != all);
  end.sent = 0;
  ++end.started;
  return true;
}

void ChannelSenders::send_piece(const End& end, const End::Source& source, std::uint32_t bytes) {
  link::Link& link = router_.port()->link();
  const link::Access head{
      link::make_header(link::Type::kChannel, sizeof head + link::rounded(bytes), bytes), end.sent,
      detail::arrival_of(end.handle)};
  std::byte* const at = link.claim(end.handle.rank, head.head.bytes);
  std::memcpy(at, &head, sizeof head);
  gather(at + sizeof head, source.first, source.shape, end.sent, bytes);
  const bool last = end.sent + bytes == end.bytes;
  link.commit(end.handle.rank, last ? link::Next::kUnknown : link::Next::kSoon);
}

int ChannelSenders::resume() {
  int count = 0;
  for (End* const end : waiting_) {
    while (end->started != end->puts && try_start(*end)) ++count;
    end->waiting = end->started != end->puts;
  }
  std::erase_if(waiting_, [](const End* end) { return !end->waiting; });
  return count;
}

}  // namespace am
