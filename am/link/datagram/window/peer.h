#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "am/link/datagram/window/congestion.h"
#include "am/link/datagram/window/halves.h"
#include "am/link/datagram/window/seal.h"
#include "am/link/datagram/window/slots.h"
#include "am/link/datagram/window/wire.h"

// am/link/datagram/window: a reliable, ordered stream of packets over datagrams that may be lost,
// doubled, delayed, exchanged, cut, changed or forged. It knows neither network nor clock:
// datagrams and the time go in, datagrams and times come out. It uses am/types and
// am/link/packet.h, and nothing else. docs/datagram.md describes the protocol, and
// tests/am/link/datagram/window proves it.

namespace am::link::window {

// What has happened to the datagrams of a process since its start.
struct Counters {
  // Sent.
  std::uint64_t data = 0;      // with a payload
  std::uint64_t repeated = 0;  // ... of which again
  std::uint64_t acks = 0;      // acknowledgements without a payload
  std::uint64_t probes = 0;    // questions without a payload
  std::uint64_t timeouts = 0;  // nothing had been heard for long
  // Received.
  std::uint64_t received = 0;    // taken, the next four included
  std::uint64_t duplicates = 0;  // payloads that had come before: dropped
  std::uint64_t early = 0;       // kept until those before them came
  std::uint64_t beyond = 0;      // outside the window: dropped
  std::uint64_t no_room = 0;     // early, and no memory left for them: dropped
  std::uint64_t old = 0;         // of another incarnation of their source: dropped
  std::uint64_t stale = 0;       // sent long before others that have come: dropped
  std::uint64_t malformed = 0;   // with the right seal, and impossible: dropped
  std::uint64_t forged = 0;      // not of this job, or damaged on their way: dropped
};

struct Options {
  Rank rank = 0;                  // of this process
  std::uint32_t incarnation = 0;  // likewise
  // How long an acknowledgement may wait for a datagram that takes it along.
  std::int64_t ack_delay_ns = 200'000;
  // After so long a silence a peer that was in contact is probed.
  std::int64_t keep_alive_ns = 10'000'000'000;
  // A process that leaves so many probes in a row unanswered is dead. They are at most
  // round_trip.longest_ns apart, and sent only while this process polls. A day: a process that
  // computes does not answer, and its launcher notices a real end.
  unsigned most_questions = 86'400;
  // What was sent so long before something that has come is dropped: it may be a replay, and once
  // 2^32 datagrams have been sent its number says nothing. Less than the time that these take, and
  // more than a datagram spends in a network.
  std::int64_t stale_ns = 60'000'000'000;
  RoundTrip::Options round_trip{};
  std::uint64_t first_number = 1;  // the same in all processes of a job
};

// What all peers of a process share.
struct Shared {
  const Options& options;
  SlotPool& outgoing;  // without limit
  SlotPool& early;
  Staging& staging;
  Counters& counters;
  // How many bytes one peer may have in flight to this process, by charge(), so that those of all
  // peers find room where the system keeps them.
  std::uint32_t room = 4U << 20;
  // When this process polled for datagrams again after a long pause: the delay of answers to what
  // it sent before says nothing about the network.
  std::int64_t resumed_ns = 0;
};

// A datagram that is to be sent. Empty: there is none.
struct Outgoing {
  std::span<const std::byte> bytes{};
  Slot* slot = nullptr;  // which it is in; nullptr: it has no payload, and is valid until prepare()
  bool asks = false;     // for an acknowledgement at once

  explicit operator bool() const noexcept { return !bytes.empty(); }
};

// The conversation of this process with one other, from the start of the later of the two: both
// halves of the window, acknowledgements, timers.
//
//   while (Outgoing next = peer.prepare(now)) {          // whatever is due
//     if (!network.send(next.bytes)) break;              // no room: it will be due again
//     peer.sent(next, now, in_network);
//   }
//   ... wait for datagrams until peer.deadline_ns() ...
//   if (peer.receive(datagram, now, true) == Received::kDeliver) read(datagram.payload);
//   while (Slot* slot = peer.next_kept()) { read(slot->payload()); early.give_back(*slot); }
//
// Pure logic. Thread rule: the link's. Allocates only while its queue and the pools grow.
class Peer {
 public:
  // `seal` has the key of the other process, and datagrams to it are of `most_bytes` at most.
  // `shared` outlives the peer. When the peer ends, the network holds none of its slots.
  Peer(const Shared& shared, std::uint32_t their_incarnation, const Seal& seal,
       std::size_t most_bytes = SlotPool::kNoLimit);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // What is taken to find room at a peer that has not said anything yet.
  static constexpr std::uint32_t kRoomUnasked = 128 << 10;
  // Shorter datagrams than these are not made so that more of them find room.
  static constexpr std::size_t kLeastFill = 1'472;

  // --- Sending. claim() and commit(): see Sender.
  std::byte* claim(std::uint32_t bytes) { return sender_.claim(bytes); }
  void commit() noexcept { sender_.commit(); }
  // The datagram that is to be sent now, if any. Its bytes stay as they are until it is sent and
  // the network has read it, or, without a slot, until the next call.
  // Of those that were never sent only full ones, if `full`: there will be more to send soon.
  Outgoing prepare(std::int64_t now_ns, bool full = false);
  // It has been given to the network, which goes on reading it until completed() if `in_network`.
  void sent(const Outgoing& outgoing, bool in_network) noexcept;
  void completed(Slot& slot) noexcept { sender_.completed(slot); }
  std::size_t queued() const noexcept { return sender_.queued(); }  // datagrams never sent
  std::size_t queued_bytes() const noexcept { return sender_.queued_bytes(); }
  bool unacknowledged() const noexcept { return sender_.unacknowledged(); }

  // --- Receiving
  enum class Received : std::uint8_t {
    kDeliver,  // its payload comes next in the stream: read it now
    kKept,     // next_kept() may return something now
    kNothing,  // no payload, or it was dropped
  };
  // A datagram from this peer that decode() has accepted.
  Received receive(const Datagram& datagram, std::int64_t now_ns, bool may_deliver);
  Slot* next_kept() noexcept { return receiver_.next_kept(); }
  bool has_next() const noexcept { return receiver_.has_next(); }
  Stream& stream() noexcept { return stream_; }

  // --- Time
  // When prepare() will have something to send if nothing comes; kNever: not at all.
  static constexpr std::int64_t kNever = -1;
  std::int64_t deadline_ns() const noexcept;
  // Asks for a sign of life, unless an answer is awaited anyway.
  void probe() noexcept { probe_due_ = probe_due_ || !awaits(); }
  // Probes the peer if it was heard before and has been silent for long.
  void keep_alive(std::int64_t now_ns) noexcept;
  // It has left all questions unanswered.
  bool dead() const noexcept { return dead_; }
  // For how long, the last question included.
  std::int64_t unanswered_ns(std::int64_t now_ns) const noexcept {
    return questions_ == 0 ? 0 : now_ns - unanswered_since_ns_;
  }

  std::uint64_t arrived() const noexcept { return receiver_.arrived(); }
  const RoundTrip& round_trip() const noexcept { return round_trip_; }
  const Congestion& congestion() const noexcept { return congestion_; }
  std::uint32_t in_flight() const noexcept { return sender_.in_flight(); }
  std::uint64_t charged() const noexcept { return sender_.charged(); }
  std::uint32_t kept() const noexcept { return receiver_.kept(); }

 private:
  bool is_stale(const DatagramHeader& header) const noexcept;
  void take_acknowledgement(const DatagramHeader& header, std::int64_t now_ns, bool newest);
  void take_sample(std::int64_t echo_ns, std::uint32_t held_ns, std::int64_t now_ns);
  Received take_payload(const Datagram& datagram, std::int64_t now_ns, bool may_deliver);
  void end_timeouts(std::int64_t echo_ns) noexcept;
  void find_lost(std::int64_t now_ns);

  bool awaits() const noexcept;
  bool blocked() const noexcept { return sender_.has_new() && sender_.next() >= allowed_; }
  void set_room(std::uint32_t bytes) noexcept;
  bool has_room_for(const Slot& slot) const noexcept;
  bool may_send_new() const noexcept;
  bool ack_due(std::int64_t now_ns) const noexcept;
  std::int64_t timeout_at_ns() const noexcept;
  void check_timers(std::int64_t now_ns);
  void time_out(std::int64_t now_ns);
  Slot* next_slot(std::int64_t now_ns, bool full) noexcept;
  bool asks(const Slot& slot) const noexcept;
  Outgoing seal(std::span<std::byte> bytes, Slot* slot, std::uint8_t flags, std::int64_t now_ns);

  const Shared& shared_;
  const Options& options_;
  const std::uint32_t their_incarnation_;
  const Seal seal_;
  Sender sender_;
  Receiver receiver_;
  Stream stream_;
  RoundTrip round_trip_;
  Congestion congestion_;
  Pacer pacer_;
  // Sending.
  const std::size_t most_bytes_;
  std::uint64_t allowed_;  // numbers before this may be sent: the peer has room for them
  std::uint32_t room_ = kRoomUnasked;     // ... and for so many bytes from the first of them on
  std::int64_t prepared_ns_ = 0;          // when prepare() was called last
  std::int64_t stamp_ns_ = 0;             // DatagramHeader::sent_ns of the last one
  std::int64_t question_ns_ = 0;          // when a payload or a probe was sent last
  std::int64_t probe_stamp_ = 0;          // of the last probe
  std::uint32_t unasked_ = 0;             // payloads since one that was to be acknowledged at once
  std::int64_t echo_ns_ = 0;              // the latest of our stamps that the peer has received
  std::int64_t lost_at_ns_ = kNever;      // something is lost if it is not acknowledged by then
  unsigned backoff_ = 0;                  // timeouts since the peer has received anything
  std::int64_t before_timeouts_ns_ = 0;   // the last stamp before the first of these
  std::int64_t settled_ns_ = 0;           // the last stamp when backoff_ became 0 last
  unsigned questions_ = 0;                // timeouts since anything was heard of it
  std::int64_t unanswered_since_ns_ = 0;  // when the first of these began
  bool urgent_ = false;                   // send a lost datagram whatever the window says
  bool probe_due_ = false;
  bool dead_ = false;
  // Receiving.
  std::uint64_t newest_ns_ = 0;  // the latest stamp of the peer
  std::int64_t heard_ns_ = 0;    // when that came; 0: never
  std::uint64_t to_echo_ = 0;    // the latest of its stamps on a payload or probe
  std::int64_t to_echo_since_ns_ = 0;
  std::uint32_t unreported_ = 0;  // payloads since the last acknowledgement
  std::uint32_t unreported_bytes_ = 0;
  std::int64_t ack_at_ns_ = kNever;  // it is sent then if nothing takes it along
  bool ack_now_ = false;
  std::uint32_t offered_ = kWindow;                                  // what it said about room
  alignas(8) std::array<std::byte, sizeof(DatagramHeader)> bare_{};  // without payload
};

}  // namespace am::link::window
