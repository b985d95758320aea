#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "am/link/packet.h"
#include "am/message/admission.h"
#include "am/message/correspondent.h"
#include "am/message/tag_epochs.h"
#include "am/observe/event.h"
#include "am/route/port.h"
#include "am/types/types.h"
#include "shmem/mailbox.h"

// What an endpoint knows of those on other nodes that it sends to, and that send to it; and their
// messages.
//
// Thread rule: the bundle's; a parallel one is locked.

namespace am::far {

// What another endpoint has announced of itself.
struct Announced {
  // False: the packet is damaged.
  [[nodiscard]] bool read(const link::Introduction& packet);
  Verdict judge(const LongRequest& message, bool tag_admits) const noexcept;

  bool admits = false;  // link::kAdmits
  Extent extent;
  std::vector<std::uint32_t> handlers;  // link::make_long_handler()
};
// What has come of a long payload that this process copies to its place; all belongs to the next
// long message of that translation which is in fragments, as packets keep their order.
class Fragments {
 public:
  // `first`: what there was belongs to a message whose sender has failed. No more than `most`
  // bytes are kept: a longer message does not fit anyway.
  void add(std::span<const std::byte> fragment, bool first, std::uint64_t most);
  // Passes the payload to its place; false: it is not as long.
  bool move_to(std::span<std::byte> to);
  void clear();

 private:
  std::vector<std::byte> bytes_;
  bool too_long_ = false;
};
// For a traced endpoint: the messages of a translation so far, which both of its ends count. Large
// ones are counted separately, as others may overtake them.
struct Counted {
  TracedMessage next(Role role, bool large) noexcept {
    const bool reply = role == Role::kReply;
    std::uint64_t& count = reply ? replies[large] : requests[large];
    return {static_cast<std::uint32_t>(reply) * 2 + static_cast<std::uint32_t>(large), ++count};
  }

  std::uint64_t requests[2] = {};
  std::uint64_t replies[2] = {};
};
// Copies of the requests of one translation to another node whose ends have not come, in a job that
// goes on without its dead: they come back if the process there dies.
//
// Requests of one kind are handled in the order in which they are sent, and their answers come in
// that order: so an answer is always that of the oldest. One-way requests are reported by their
// number, and the receiver reports all older ones before it returns one.
//
// Pure logic. Thread rule: the bundle's.
class KeptRequests {
 public:
  struct Request {
    std::vector<std::byte> packet;
    bool returned = false;  // ... already, for another reason, and not reported as read yet
  };

  // Room for the packet of the next request.
  std::vector<std::byte>& add(Kind kind, Role role) {
    return queue(kind, role).emplace_back().packet;
  }
  // The oldest `count` have come to their ends.
  void settle(Kind kind, Role role, std::size_t count = 1) {
    std::deque<Request>& all = queue(kind, role);
    for (; count != 0 && !all.empty(); --count) all.pop_front();
  }
  // Marks the oldest one-way request that is not marked yet as returned; it will still be reported
  // as read.
  void note_returned(Kind kind) {
    for (Request& one : queue(kind, Role::kOneWay)) {
      if (!std::exchange(one.returned, true)) return;
    }
  }
  std::size_t size(Kind kind, Role role) noexcept { return queue(kind, role).size(); }
  // The oldest; unless there is none.
  Request take(Kind kind, Role role) {
    std::deque<Request>& all = queue(kind, role);
    Request oldest = std::move(all.front());
    all.pop_front();
    return oldest;
  }

 private:
  std::deque<Request>& queue(Kind kind, Role role) noexcept {
    return queues_[static_cast<int>(kind)][role == Role::kOneWay ? 1 : 0];
  }

  std::deque<Request> queues_[kKinds][2];  // those with an answer; one-way
};

// A translation of ours that has been used.
struct Receiver {
  explicit Receiver(Port& port) noexcept : answers(port) {}
  // No answer about the other endpoint is to come.
  bool introduced() const noexcept { return (known || gone) && !asking; }
  bool all_read() const noexcept;

  Rank rank;
  std::uint32_t serial;
  std::array<std::uint32_t, kKinds> in_flight{};
  Expectation answers;
  std::optional<Announced> known;  // once it has answered
  // Messages that what is known does not admit, and about which the other has been asked since:
  // several threads may each have one.
  std::vector<LongRequest> asked;
  bool asking = false;                 // ... and an answer has not come
  int flushes = 0;                     // kFlush that have not been answered
  bool gone = false;                   // the other endpoint has ended
  bool in_turn = false;                // see FarEndpoint::begin_turn()
  Fragments fragments;                 // of its replies
  Correspondent peer;                  // as the source of its replies
  std::unique_ptr<KeptRequests> kept;  // only in a job that goes on without its dead
  Counted counted;
};
// A translation of another endpoint that sends to us.
struct Sender {
  Rank rank;
  std::uint32_t serial;
  std::uint32_t index;
  std::array<std::uint32_t, kKinds> unreported{};  // one-way requests read
  Correspondent from;
  Announced announced;
  TagEpochs::Epoch epoch;  // of the other's tag, as announced
  bool in_turn = false;    // see FarEndpoint::begin_turn()
  Fragments fragments;     // of its requests
  Counted counted;
};

// --- A message as its handler gets it, and the reply that the handler makes. They live in the call
// that delivers it.

struct Answering;
// The parts of a message that carries something.
struct Body {
  Kind kind = Kind::kShort;
  Kind request = Kind::kShort;  // what a reply answers
  Role was = Role::kRequest;
  link::Place place{};
  bool written = false;       // a long payload, before this packet
  bool in_fragments = false;  // ... has come
  std::span<const std::byte> arguments;
  std::span<const std::byte> payload;

  // False: the packet is damaged.
  [[nodiscard]] bool read(const link::MessagePacket& message) noexcept;
  // Puts the arguments where the handler of a message of that role reads them.
  shmem::Room write_arguments(Answering& to, Role role) const noexcept;
};

// The place and payload of a long reply that a handler has made.
struct LongReply {
  Verdict judge(const LongRequest& message) const noexcept;
  void drop() noexcept;  // it is not sent from its payload

  const Sender* to = nullptr;  // whose request is being handled
  TagEpochs::Epoch epoch = 0;  // of that request
  link::Place place{};
  Status status = Status::kDelivered;
  std::span<const std::byte> payload;  // if it does not fit the room
  std::vector<std::byte> copy;         // which that is, unless it is the caller's
  bool* released = nullptr;            // of the caller's
};
// Where a handler writes its reply, as it would into a mailbox: Delivery::room is its only slot.
struct Answering : shmem::RingMemory<1> {
  Answering() noexcept : RingMemory() {}
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

  shmem::Room room() noexcept { return shmem::Room(&slots[0]); }
  static Answering& of(shmem::Room room) noexcept {
    return static_cast<Answering&>(*reinterpret_cast<shmem::RingMemory<1>*>(room.slot));
  }

  LongReply long_reply;
};
}  // namespace am::far
