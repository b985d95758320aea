#include "am/link/datagram/window/peer.h"

#include <algorithm>

#include "am/types/clock.h"

namespace am::link::window {
namespace {

// The receiver has said nothing yet about how much it has room for.
constexpr std::uint32_t kAllowedUnasked = Congestion::kInitial;

}  // namespace

Peer::Peer(const Shared& shared, std::uint32_t their_incarnation, const Seal& seal,
           std::size_t most_bytes)
    : shared_(shared),
      options_(shared.options),
      their_incarnation_(their_incarnation),
      seal_(seal),
      sender_(shared.outgoing, shared.staging, options_.first_number),
      receiver_(shared.early, options_.first_number),
      round_trip_(options_.round_trip),
      most_bytes_(most_bytes),
      allowed_(options_.first_number + kAllowedUnasked) {
  set_room(kRoomUnasked);
}

// A datagram takes a quarter of the room at most, so that there are always some in flight.
void Peer::set_room(std::uint32_t bytes) noexcept {
  room_ = bytes;
  const std::size_t fill = std::max<std::size_t>(bytes / 4 & ~7U, kLeastFill);
  sender_.set_fill(std::min(most_bytes_, fill));
}

Peer::Received Peer::receive(const Datagram& datagram, std::int64_t now_ns, bool may_deliver) {
  const DatagramHeader& header = datagram.header;
  if (header.incarnation != their_incarnation_) {
    ++shared_.counters.old;
    return Received::kNothing;
  }
  if (is_stale(header)) {
    ++shared_.counters.stale;
    return Received::kNothing;
  }
  if (!sender_.plausible(header)) {
    ++shared_.counters.malformed;
    return Received::kNothing;
  }
  ++shared_.counters.received;
  const bool newest = header.sent_ns > newest_ns_;
  if (newest) {  // else it says nothing about whether the peer is alive: it may be a replay
    newest_ns_ = header.sent_ns;
    heard_ns_ = now_ns;
    questions_ = 0;
  }
  take_acknowledgement(header, now_ns, newest);
  const bool is_probe = (header.flags & DatagramHeader::kProbe) != 0;
  if (is_probe) ack_now_ = true;
  if ((is_probe || !datagram.payload.empty()) && header.sent_ns > to_echo_) {
    to_echo_ = header.sent_ns;
    to_echo_since_ns_ = now_ns;
  }
  return datagram.payload.empty() ? Received::kNothing
                                  : take_payload(datagram, now_ns, may_deliver);
}

// Numbers and acknowledgements are the low 32 bits of what is meant.
bool Peer::is_stale(const DatagramHeader& header) const noexcept {
  return header.sent_ns < newest_ns_ &&
         newest_ns_ - header.sent_ns > static_cast<std::uint64_t>(options_.stale_ns);
}

void Peer::take_acknowledgement(const DatagramHeader& header, std::int64_t now_ns, bool newest) {
  const bool limited = sender_.has_new() || sender_.in_flight() >= congestion_.window();
  if (newest) {
    allowed_ = widen(header.ack, sender_.first()) + std::min<std::uint32_t>(header.limit, kWindow);
    set_room(header.room * DatagramHeader::kRoomUnit);
  }
  const Acknowledged acknowledged = sender_.acknowledge(header);
  const auto echo_ns = static_cast<std::int64_t>(header.echo_ns);
  const bool news = echo_ns > echo_ns_ && echo_ns <= stamp_ns_;
  if (news) {
    echo_ns_ = echo_ns;
    take_sample(echo_ns, header.held_ns, now_ns);
    if (backoff_ != 0) end_timeouts(echo_ns);
  }
  if (acknowledged.count == 0 && !news) return;
  congestion_.acknowledged(acknowledged.count, acknowledged.newest_ns, limited);
  find_lost(now_ns);
  pacer_.set_rate(congestion_.window(), round_trip_.least_ns(), congestion_.in_slow_start(),
                  now_ns);
}

// What was sent at `echo_ns` has been answered. The time that the datagram or its answer lay in a
// socket, as a process computed, is in the sample. So answers to what was sent before a pause of
// this process, or before a timeout was over, may only make the estimate less; but for one of each
// series of timeouts, up to the timeout: else a network that has become slower would time out for
// ever.
void Peer::take_sample(std::int64_t echo_ns, std::uint32_t held_ns, std::int64_t now_ns) {
  const bool timed_out = backoff_ != 0;
  if (timed_out) settled_ns_ = stamp_ns_;
  if (held_ns == kHeldLong) return;
  const std::int64_t ns = now_ns - echo_ns - std::int64_t{held_ns};
  const bool doubtful = echo_ns <= std::max(settled_ns_, shared_.resumed_ns);
  if (!doubtful || ns < round_trip_.smoothed_ns()) {
    round_trip_.sample(ns);
  } else if (timed_out) {
    round_trip_.sample(std::min(ns, round_trip_.timeout_ns(0, options_.ack_delay_ns)));
  }
}

// The peer has received what was sent at `echo_ns`.
void Peer::end_timeouts(std::int64_t echo_ns) noexcept {
  if (echo_ns <= before_timeouts_ns_) {
    congestion_.undo_timeouts();
  } else {
    congestion_.keep_timeouts();
  }
  backoff_ = 0;
}

void Peer::find_lost(std::int64_t now_ns) {
  lost_at_ns_ = sender_.find_lost(
      echo_ns_, now_ns, round_trip_.reordering_ns(),
      [this, now_ns](const Slot& slot) { congestion_.lost(slot.sent_ns, now_ns); });
}

Peer::Received Peer::take_payload(const Datagram& datagram, std::int64_t now_ns, bool may_deliver) {
  ++unreported_;
  unreported_bytes_ += charge(static_cast<std::uint32_t>(datagram.payload.size()));
  if (ack_at_ns_ == kNever) ack_at_ns_ = now_ns + options_.ack_delay_ns;
  const Receiver::Arrival how = receiver_.arrive(datagram, may_deliver);
  // Out of turn: something is missing, or an acknowledgement was lost. Its sender wants to know.
  if (how != Receiver::Arrival::kNext || receiver_.has_gap()) ack_now_ = true;
  switch (how) {
    case Receiver::Arrival::kNext: return Received::kDeliver;
    case Receiver::Arrival::kKept: ++shared_.counters.early; return Received::kKept;
    case Receiver::Arrival::kDuplicate: ++shared_.counters.duplicates; break;
    case Receiver::Arrival::kBeyond: ++shared_.counters.beyond; break;
    case Receiver::Arrival::kNoRoom: ++shared_.counters.no_room; break;
  }
  return Received::kNothing;
}

// An answer is awaited.
bool Peer::awaits() const noexcept {
  return sender_.first() != sender_.next() || probe_stamp_ > echo_ns_ || blocked();
}

std::int64_t Peer::timeout_at_ns() const noexcept {
  return awaits() ? question_ns_ + round_trip_.timeout_ns(backoff_, options_.ack_delay_ns) : kNever;
}

void Peer::check_timers(std::int64_t now_ns) {
  if (lost_at_ns_ != kNever && now_ns >= lost_at_ns_) find_lost(now_ns);
  const std::int64_t timeout_ns = timeout_at_ns();
  if (timeout_ns != kNever && now_ns >= timeout_ns) time_out(now_ns);
}

void Peer::time_out(std::int64_t now_ns) {
  ++shared_.counters.timeouts;
  if (backoff_++ == 0) before_timeouts_ns_ = stamp_ns_;
  if (questions_ == 0) unanswered_since_ns_ = question_ns_;
  if (++questions_ > options_.most_questions) dead_ = true;
  congestion_.timed_out(backoff_, now_ns);
  question_ns_ = now_ns;
  if (sender_.repeat_oldest()) {
    urgent_ = true;
  } else {
    probe_due_ = true;
  }
}

// One at least may always be sent, as the receiver's room is for it alone then.
bool Peer::has_room_for(const Slot& slot) const noexcept {
  return sender_.charged() == 0 || sender_.charged() + charge(slot.bytes) <= room_;
}

bool Peer::may_send_new() const noexcept {
  return sender_.has_new() && sender_.next() < allowed_ && has_room_for(sender_.next_new());
}

Slot* Peer::next_slot(std::int64_t now_ns, bool full) noexcept {
  if (urgent_) {
    if (Slot* const slot = sender_.next_lost()) return slot;
    urgent_ = false;  // it has been acknowledged since
  }
  if (sender_.in_flight() >= congestion_.window() || !pacer_.may_send(now_ns)) return nullptr;
  if (Slot* const slot = sender_.next_lost()) return slot;
  if (full && sender_.queued() < 2) return nullptr;
  return may_send_new() ? &sender_.next_new() : nullptr;
}

bool Peer::ack_due(std::int64_t now_ns) const noexcept {
  constexpr std::uint32_t kQuarter = kWindow / 4;
  if (ack_now_ || unreported_ >= kQuarter || unreported_bytes_ > shared_.room / 4) return true;
  if (ack_at_ns_ != kNever && now_ns >= ack_at_ns_) return true;
  // The peer may wait for room.
  return offered_ < kQuarter && receiver_.room() >= 2 * kQuarter;
}

// Whether that datagram is to be acknowledged at once: one in a quarter of the congestion window,
// so that a sender whose window is small need not wait until the receiver finds it worth while; and
// those that are sent again. Conversations with little in flight take acknowledgements along.
bool Peer::asks(const Slot& slot) const noexcept {
  const std::uint32_t few = std::max(congestion_.window() / 4, 1U);
  return slot.sent_ns != 0 || (sender_.in_flight() >= few && unasked_ + 1 >= few);
}

Outgoing Peer::prepare(std::int64_t now_ns, bool full) {
  if (dead_) return {};
  prepared_ns_ = now_ns;
  check_timers(now_ns);
  if (dead_) return {};
  if (Slot* const slot = next_slot(now_ns, full)) {
    const auto flags = static_cast<std::uint8_t>(DatagramHeader::kData |
                                                 (asks(*slot) ? DatagramHeader::kProbe : 0));
    return seal(slot->memory.first(slot->bytes), slot, flags, now_ns);
  }
  if (full) return {};
  if (probe_due_) return seal(bare_, nullptr, DatagramHeader::kProbe, now_ns);
  if (ack_due(now_ns)) return seal(bare_, nullptr, 0, now_ns);
  return {};
}

Outgoing Peer::seal(std::span<std::byte> bytes, Slot* slot, std::uint8_t flags,
                    std::int64_t now_ns) {
  stamp_ns_ = std::max(now_ns, stamp_ns_ + 1);
  const std::int64_t held_ns = std::max<std::int64_t>(now_ns - to_echo_since_ns_, 0);
  DatagramHeader header{
      .seal = 0,
      .source = options_.rank,
      .incarnation = options_.incarnation,
      .number = slot == nullptr ? 0 : static_cast<std::uint32_t>(slot->number),
      .ack = static_cast<std::uint32_t>(receiver_.arrived()),
      .selective = {receiver_.selective(0), receiver_.selective(1)},
      .sent_ns = static_cast<std::uint64_t>(stamp_ns_),
      .echo_ns = to_echo_,
      .held_ns = static_cast<std::uint32_t>(std::min<std::int64_t>(held_ns, kHeldLong)),
      .room = static_cast<std::uint16_t>(
          std::min<std::uint32_t>(shared_.room / DatagramHeader::kRoomUnit, 0xffff)),
      .limit = static_cast<std::uint8_t>(receiver_.room()),
      .flags = static_cast<std::uint8_t>(flags | DatagramHeader::kVersion)};
  encode(bytes, header, seal_);
  return {.bytes = bytes, .slot = slot, .asks = (flags & DatagramHeader::kProbe) != 0};
}

void Peer::sent(const Outgoing& outgoing, bool in_network) noexcept {
  if (outgoing.slot != nullptr) {
    ++shared_.counters.data;
    if (outgoing.slot->sent_ns != 0) ++shared_.counters.repeated;
    sender_.sent(*outgoing.slot, stamp_ns_, in_network);
    pacer_.sent(prepared_ns_);
    urgent_ = false;
    unasked_ = outgoing.asks ? 0 : unasked_ + 1;
  } else if (outgoing.asks) {
    ++shared_.counters.probes;
    probe_due_ = false;
    probe_stamp_ = stamp_ns_;
  } else {
    ++shared_.counters.acks;
  }
  if (outgoing.slot != nullptr || outgoing.asks) question_ns_ = stamp_ns_;
  offered_ = receiver_.room();  // as seal() has said: nothing comes between prepare() and this
  ack_now_ = false;             // whatever was sent says what has arrived
  ack_at_ns_ = kNever;
  unreported_ = 0;
  unreported_bytes_ = 0;
}

void Peer::keep_alive(std::int64_t now_ns) noexcept {
  if (heard_ns_ == 0 || now_ns - std::max(heard_ns_, question_ns_) < options_.keep_alive_ns) return;
  probe();
}

std::int64_t Peer::deadline_ns() const noexcept {
  if (dead_) return kNever;
  if (urgent_ || probe_due_ || ack_due(0)) return 0;
  std::int64_t earliest_ns = kNever;
  const auto add = [&earliest_ns](std::int64_t ns) { earliest_ns = earlier(earliest_ns, ns); };
  add(ack_at_ns_);
  add(lost_at_ns_);
  add(timeout_at_ns());
  if ((sender_.has_lost() || may_send_new()) && sender_.in_flight() < congestion_.window()) {
    add(std::max<std::int64_t>(pacer_.ready_ns(), 0));
  }
  return earliest_ns;
}

}  // namespace am::link::window
