// Waiting until what has been sent has come to its end.

#include <algorithm>
#include <bit>

#include "am/core/endpoint.h"
#include "am/core/far.h"

namespace am {

// A last request in each lane where one-way requests are in flight: its answer says that all before
// it were read.
void Endpoint::say_farewell(const To& to, const char* call) {
  shmem::Outbox& box = *boxes_[to.index];
  const auto last = [&]<Kind kKind>() {
    constexpr shmem::Lane kLane = packet::lane_of(kKind);
    const auto answered = std::popcount(box.awaited_slots(shmem::index(kLane)));
    if (box.in_flight<kLane>() == static_cast<std::uint32_t>(answered)) return;
    shmem::Room room;
    wait_until(to, call, detail::kCredit, [&] { return box.try_claim<kLane>(room); });
    send<kKind>(to.index, room, packet::RequestMark{0, 0, packet::Form::kFarewell}.mark(),
                Role::kRequest);
    --stats_[kKind].requests_sent;  // not the user's, and not counted there
  };
  last.template operator()<Kind::kShort>();
  last.template operator()<Kind::kMedium>();
  last.template operator()<Kind::kLong>();
}

// By index: callbacks that send meanwhile may connect more.
void Endpoint::flush_near(const char* call, const SourceLocation& where) {
  for (std::size_t i = 0; i < connected_.size(); ++i) say_farewell(To(connected_[i], where), call);
  std::uint32_t silent = 0;
  bundle_->wait_with_siblings(
      [&] {
        return std::ranges::all_of(connected_, [&](std::uint32_t to) {
          silent = to;
          return boxes_[to]->awaited() == 0;
        });
      },
      [&] { return reason(To(silent, where), call, detail::kAnswer); });
}

void Endpoint::flush(const char* call, const SourceLocation& where) {
  if (bundle_->handling()) bundle_->refuse(call, "a handler may not wait; flush after poll()");
  const Call guard(calls_);
  flush_near(call, where);
  if (far_) far_->flush({.call = call, .where = where, .needs = detail::kAnswer});
}

void Bundle::flush(const char* call, const SourceLocation& where) {
  for (std::size_t i = 0; i < endpoints_.size();) {
    const Endpoint* const endpoint = endpoints_[i];
    endpoints_[i]->flush(call, where);
    // Unless a handler has ended one, so that the next one is here now.
    if (i < endpoints_.size() && endpoints_[i] == endpoint) ++i;
  }
}

bool Endpoint::Far::Outgoing::all_read() const noexcept {
  return std::ranges::all_of(in_flight, [](std::uint32_t count) { return count == 0; });
}

// Whether everything has been read; else asks for an answer when it has been, unless one is to come
// already, or the question would overtake what it asks for.
bool Endpoint::Far::try_flush(Outgoing& out, std::uint32_t index) {
  if (out.flushes != 0) return false;
  if (out.all_read()) return true;
  if (!out.introduced() || messages_.transfers().owes(out.rank)) return false;
  send_flush(out, index);
  return false;
}

void Endpoint::Far::send_flush(Outgoing& out, std::uint32_t index) {
  const link::MessagePacket packet = head_to(out, index, link::Type::kFlush);
  port_.link().send(out.rank, std::as_bytes(std::span(&packet, 1)));
  ++out.flushes;
  out.answers.one_more();
}

void Endpoint::Far::flush(const Reason& reason) {
  Rank silent = kNobody;
  const auto all_flushed = [&] {
    silent = kNobody;
    for (std::uint32_t index = 0; index < outgoing_.size(); ++index) {
      if (outgoing_[index] && !try_flush(*outgoing_[index], index)) {
        silent = outgoing_[index]->rank;
      }
    }
    return silent == kNobody;
  };
  endpoint_.bundle().wait_with_siblings(all_flushed, [&] {
    Reason now = reason;
    now.peer = silent;
    return now;
  });
}

// Nothing of the translation is in flight any more once the flush has been answered and everything
// has been read: what comes next is of the translation that has this index next.
void Endpoint::Far::close(const To& to) {
  if (!outgoing_[to.index]) return;
  Outgoing& out = *outgoing_[to.index];
  const Call guard(endpoint_.calls_);
  const auto explain = [&] { return endpoint_.reason(to, "unmap", detail::kAnswer); };
  // Answers are awaited, too, so that they do not meet the next translation of this index.
  Bundle& bundle = endpoint_.bundle();
  bundle.wait_with_siblings(
      [&] { return out.introduced() && !messages_.transfers().owes(out.rank); }, explain);
  send_flush(out, to.index);
  bundle.wait_with_siblings([&] { return try_flush(out, to.index); }, explain);
  const link::MessagePacket packet = head_to(out, to.index, link::Type::kGoodbye);
  port_.link().send(out.rank, std::as_bytes(std::span(&packet, 1)));
  outgoing_[to.index].reset();
}

}  // namespace am
