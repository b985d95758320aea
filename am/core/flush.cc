// Waiting until what has been sent has come to its end.

#include <algorithm>
#include <bit>
#include <optional>

#include "am/core/endpoint.h"
#include "am/core/far/far.h"

namespace am {

// A last request in each lane where one-way requests are in flight: its answer says that all before
// it were read.
void Endpoint::say_farewell(const To& to, const char* call) {
  const auto last = [&]<Kind kKind>() {
    if (try_farewell<kKind>(to.index)) return;
    wait_until(to, call, kNeedsCredit, [&] { return try_farewell<kKind>(to.index); });
  };
  last.template operator()<Kind::kShort>();
  last.template operator()<Kind::kMedium>();
  last.template operator()<Kind::kLong>();
}

// False: there is no credit for it.
template <Kind kKind>
bool Endpoint::try_farewell(std::uint32_t to) {
  constexpr shmem::Lane kLane = packet::lane_of(kKind);
  const Locked inside(*this);
  shmem::Outbox* const box = box_at(to);
  if (box == nullptr) return true;  // another thread has unmapped it
  const auto answered = std::popcount(box->awaited_slots(shmem::index(kLane)));
  if (box->in_flight<kLane>() == static_cast<std::uint32_t>(answered)) return true;
  shmem::Room room;
  if (!box->try_claim<kLane>(room)) return false;
  send<kKind>(to, *box, room, packet::RequestMark{0, 0, packet::Form::kFarewell}.mark(),
              Role::kRequest);
  --stats_[kKind].requests_sent;  // not the user's, and not counted there
  return true;
}

// The translation `i`th in the list of those that are connected; nullopt: there are not as many.
std::optional<std::uint32_t> Endpoint::connected_at(std::size_t i) const noexcept {
  const Locked inside(*this);
  if (i >= connected_.size()) return std::nullopt;
  return connected_[i];
}

// By index: callbacks, and other threads, that send meanwhile may connect more.
void Endpoint::flush_near(const char* call, const SourceLocation& where) {
  for (std::size_t i = 0; const auto to = connected_at(i); ++i) {
    say_farewell(To(*to, where), call);
  }
  To silent(0, where);
  wait_until(silent, call, detail::kAnswer, [&] {
    const Locked inside(*this);
    return std::ranges::all_of(connected_, [&](std::uint32_t to) {
      silent.index = to;
      return boxes_[to]->awaited() == 0 && !boxes_[to]->busy();
    });
  });
}

void Endpoint::flush(const char* call, const SourceLocation& where) {
  if (bundle_->handling()) bundle_->refuse(call, "a handler may not wait; flush after poll()");
  const Call guard(calls_);
  flush_near(call, where);
  if (far_) far_->flush({.call = call, .where = where, .needs = detail::kAnswer});
}

void Bundle::flush(const char* call, const SourceLocation& where) {
  for (std::size_t i = 0;;) {
    std::optional<Endpoint::Call> waiting;  // so that no thread ends it meanwhile
    Endpoint* endpoint = nullptr;
    {
      const Locked inside(*this);
      if (i >= endpoints_.size()) return;
      endpoint = endpoints_[i];
      waiting.emplace(endpoint->calls_);
    }
    endpoint->flush(call, where);
    // Unless a handler has ended one, so that the next one is here now.
    const Locked inside(*this);
    if (i < endpoints_.size() && endpoints_[i] == endpoint) ++i;
  }
}

bool Endpoint::Far::Outgoing::all_read() const noexcept {
  return std::ranges::all_of(in_flight, [](std::uint32_t count) { return count == 0; });
}

// Whether everything has been read, and every reply handled; else asks for an answer when it has
// been, unless one is to come already, or the question would overtake what it asks for.
bool Endpoint::Far::try_flush(Outgoing& out, std::uint32_t index) {
  if (out.flushes != 0 || out.in_turn) return false;
  if (out.all_read()) return true;
  if (is_dead(out.rank)) return false;  // it comes back
  const Port::Inside inside(port_);
  if (!out.introduced() || messages_.transfers().owes(out.rank)) return false;
  send_flush(out, index);
  return false;
}

void Endpoint::Far::send_flush(Outgoing& out, std::uint32_t index) {
  if (is_dead(out.rank)) return;
  const link::MessagePacket packet = head_to(out, index, link::Type::kFlush);
  const Port::Inside inside(port_);
  port_.link().send(out.rank, std::as_bytes(std::span(&packet, 1)));
  ++out.flushes;
  out.answers.one_more();
}

void Endpoint::Far::flush(const Reason& reason) {
  Rank silent = kNobody;
  const auto all_flushed = [&] {
    const Locked inside(endpoint_);
    silent = kNobody;
    for (const auto& [index, out] : all_outgoing_) {
      if (!try_flush(*out, index)) silent = out->rank;
    }
    return silent == kNobody;
  };
  endpoint_.wait_in_bundle(all_flushed, [&] {
    Reason now = reason;
    now.peer = silent;
    return now;
  });
}

// Nothing of the translation is in flight any more once the flush has been answered and everything
// has been read: what comes next is of the translation that has this index next.
void Endpoint::Far::close(const To& to) {
  Outgoing* const out = [&] {
    const Locked inside(endpoint_);
    return outgoing_[to.index];
  }();
  if (out == nullptr) return;
  // Answers are awaited, too, so that they do not meet the next translation of this index.
  endpoint_.wait_until(to, "unmap", detail::kAnswer, [&] {
    const Locked inside(endpoint_);
    const Port::Inside network(port_);
    const bool all_sent = out->introduced() && !messages_.transfers().owes(out->rank);
    if (all_sent) send_flush(*out, to.index);
    return all_sent;
  });
  endpoint_.wait_until(to, "unmap", detail::kAnswer, [&] {
    const Locked inside(endpoint_);
    return try_flush(*out, to.index);
  });
  const Locked inside(endpoint_);
  const link::MessagePacket packet = head_to(*out, to.index, link::Type::kGoodbye);
  const Port::Inside network(port_);
  port_.link().send(out->rank, std::as_bytes(std::span(&packet, 1)));
  outgoing_[to.index] = nullptr;
  all_outgoing_.erase(to.index);
}

}  // namespace am
