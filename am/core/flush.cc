// Waiting until what has been sent has come to its end.

#include <algorithm>
#include <optional>

#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/types/forked.h"

namespace am {

namespace {

// Whether `is<kKind>()` says so of each kind of message; asked up to the first that does not.
template <class Is>
bool all_kinds(const Is& is) {
  return is.template operator()<Kind::kShort>() && is.template operator()<Kind::kMedium>() &&
         is.template operator()<Kind::kLong>();
}

// A last request in each lane where one-way requests are in flight: its answer says that all before
// it were read.
void say_farewell(EndpointParts& parts, std::uint32_t to, Call call) {
  all_kinds([&]<Kind kKind>() {
    const auto attempt = [&] {
      const EndpointLock lock(parts);
      return parts.outgoing.try_farewell<kKind>(to);
    };
    if (!attempt()) parts.wait_until(to, call, kNeedsCredit, attempt);
    return true;
  });
}

std::vector<std::uint32_t> connected_now(const EndpointParts& parts) {
  const EndpointLock lock(parts);
  return parts.outgoing.connected();
}

// By a copy: other threads connect and unmap meanwhile, which moves what is in the list.
void flush_near(EndpointParts& parts, Call call) {
  for (const std::uint32_t to : connected_now(parts)) say_farewell(parts, to, call);
  std::uint32_t silent = 0;
  const auto all_silent = [&] {
    const EndpointLock lock(parts);
    return std::ranges::all_of(parts.outgoing.connected(), [&](std::uint32_t to) {
      silent = to;
      const shmem::Outbox& box = *parts.outgoing.box_at(to);
      return box.awaited() == 0 && !box.busy();
    });
  };
  parts.wait_in_bundle(all_silent, [&] { return parts.reason(silent, call, detail::kAnswer); });
}

// Everything that was sent to `index` has come to its end: unbinds it. False: it has not.
bool try_unbind(EndpointParts& parts, std::uint32_t index) {
  const EndpointLock lock(parts);
  if (const shmem::Outbox* const box = parts.outgoing.box_at(index)) {
    if (box->awaited() != 0 || box->busy()) return false;
    // One-way requests that a callback has sent after the farewell.
    const bool all_read = all_kinds([&]<Kind kKind>() {
      if (parts.outgoing.in_flight(index, kKind) == 0) return true;
      static_cast<void>(parts.outgoing.try_farewell<kKind>(index));
      return false;
    });
    if (!all_read) return false;
    parts.outgoing.disconnect(index);
  }
  parts.translations.unbind(index);
  return true;
}

}  // namespace

void Endpoint::flush(Call call) {
  check_not_forked(call);
  if (bundle().handling()) bundle().refuse(call, "a handler may not wait; flush after poll()");
  const CallGuard guard(parts_.threads);
  flush_near(parts_, call);
  if (parts_.far) parts_.far->flush({.call = call, .needs = detail::kAnswer});
}

void Endpoint::unmap(To to) {
  const std::uint32_t index = to.value;
  const Call call("Endpoint::unmap", to.where);
  check_not_forked(call);
  if (bundle().handling()) bundle().refuse(call, "a handler may not unmap");
  {
    const EndpointLock lock(parts_);
    if (parts_.translations.used(index, call).closing) {
      parts_.translations.refuse_unmapped(index, call);
    }
    // Of a sequential bundle only callbacks send meanwhile, which may go on.
    parts_.translations[index].closing = bundle().access() == Access::kParallel;
  }
  try {
    say_farewell(parts_, index, call);
    if (parts_.far) parts_.far->close(index, call);
    parts_.wait_until(index, call, detail::kAnswer, [&] { return try_unbind(parts_, index); });
  } catch (...) {  // a handler's
    const EndpointLock lock(parts_);
    parts_.translations[index].closing = false;
    throw;
  }
}

void Bundle::flush(Call call) {
  for (std::size_t i = 0;;) {
    std::optional<CallGuard> waiting;  // so that no thread ends it meanwhile
    Endpoint* endpoint = nullptr;
    {
      const Lock lock(*this);
      if (i >= endpoints_.size()) return;
      endpoint = endpoints_[i];
      waiting.emplace(endpoint->parts().threads);
    }
    endpoint->flush(call);
    // Handlers may have ended this one, and others before it.
    const Lock lock(*this);
    const auto here = std::ranges::find(endpoints_, endpoint);
    i = here == endpoints_.end() ? 0 : static_cast<std::size_t>(here - endpoints_.begin()) + 1;
  }
}

bool far::Receiver::all_read() const noexcept {
  return std::ranges::all_of(in_flight, [](std::uint32_t count) { return count == 0; });
}

// Whether everything has been read, and every reply handled; else asks for an answer when it has
// been, unless one is to come already, or the question would overtake what it asks for.
bool FarEndpoint::try_flush(Receiver& out, std::uint32_t index) {
  if (out.flushes != 0 || out.in_turn) return false;
  if (out.all_read()) return true;
  if (is_dead(out.rank)) return false;  // it comes back
  const Port::Lock network(port_);
  if (!out.introduced() || messages_.transfers().owes(out.rank)) return false;
  send_flush(out, index);
  return false;
}

void FarEndpoint::send_flush(Receiver& out, std::uint32_t index) {
  if (is_dead(out.rank)) return;
  const link::MessagePacket packet = head_to(out, index, link::Type::kFlush);
  const Port::Lock network(port_);
  port_.link().send(out.rank, std::as_bytes(std::span(&packet, 1)));
  ++out.flushes;
  out.answers.one_more();
}

void FarEndpoint::flush(const Reason& reason) {
  Rank silent = kNobody;
  const auto all_flushed = [&] {
    const EndpointLock lock(parts_);
    silent = kNobody;
    for (const auto& [index, out] : all_receivers_) {
      if (!try_flush(*out, index)) silent = out->rank;
    }
    return silent == kNobody;
  };
  parts_.wait_in_bundle(all_flushed, [&] {
    Reason now = reason;
    now.peer = silent;
    return now;
  });
}

// Nothing of the translation is in flight any more once the flush has been answered and everything
// has been read: what comes next is of the translation that has this index next.
void FarEndpoint::close(std::uint32_t to, Call call) {
  Receiver* const out = [&] {
    const EndpointLock lock(parts_);
    return receivers_[to];
  }();
  if (out == nullptr) return;
  // Answers are awaited, too, so that they do not meet the next translation of this index.
  parts_.wait_until(to, call, detail::kAnswer, [&] {
    const EndpointLock lock(parts_);
    const Port::Lock network(port_);
    const bool all_sent = out->introduced() && !messages_.transfers().owes(out->rank);
    if (all_sent) send_flush(*out, to);
    return all_sent;
  });
  parts_.wait_until(to, call, detail::kAnswer, [&] {
    const EndpointLock lock(parts_);
    return try_flush(*out, to);
  });
  const EndpointLock lock(parts_);
  const link::MessagePacket packet = head_to(*out, to, link::Type::kGoodbye);
  const Port::Lock network(port_);
  port_.link().send(out->rank, std::as_bytes(std::span(&packet, 1)));
  receivers_[to] = nullptr;
  all_receivers_.erase(to);
}

}  // namespace am
