#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "am/core/endpoint.h"
#include "am/core/far/messages.h"
#include "am/core/kept_requests.h"
#include "am/link/link.h"
#include "am/message/tag_epochs.h"
#include "am/table/sparse_table.h"
#include "am/trace/flow.h"
#include "am/types/object_pool.h"

namespace am {

// The part of an endpoint that sends to and receives from endpoints of other nodes.
//
// A translation introduces itself to the other endpoint before its first request (kHello), so that
// the other knows its tag and can answer; the answer says which long messages the other admits. A
// request is in flight until its answer has come, a one-way request until the other has reported it
// as read; answers need no room at the other end, as the requester has set it aside.
//
// A long payload that does not fit its packet is written before it or with it, so its sender
// decides whether it is admitted (am/message/admission.h), by what the other has announced. What it
// knows may be old. Where it says yes, the message is delivered: it was admitted when that was
// announced. Where it says no, the sender asks once more, and refuses by the answer.
//
// In a job that goes on without its dead, requests are kept until their ends have come, and all
// packets of a translation keep their order: payloads travel in pieces, which the receiver copies.
//
// An endpoint that ends says so to those who send to it (kGone) and to those it sends to
// (kGoodbye). Its process answers whatever comes later: messages go back, and nobody waits for it.
//
// Thread rule: the bundle's; a parallel one is locked, but for place_reply(). While a handler runs,
// others come in: what it needs of its sender stays, as no other thread handles messages of that
// sender meanwhile (Turn).
class Endpoint::Far {
 public:
  // Requests of each kind in flight on a translation. Of short and medium ones more than on a node:
  // a round trip takes a hundred times as long, and many share a frame and a system call. (One-way
  // requests of 1 KiB over TCP: with a window of 16 each took 1.3 us, with 64 it is 0.8.)
  static constexpr std::uint32_t kWindow[kKinds] = {1024, 64, 16};
  // One-way requests that are reported as read together. So many fit link::pack_credits(), and a
  // window is a multiple of them.
  static constexpr std::uint32_t kReported[kKinds] = {32, 16, 4};
  static_assert(kWindow[0] % kReported[0] == 0 && kReported[0] < 64);
  static_assert(kWindow[1] % kReported[1] == 0 && kReported[1] < 32);
  static_assert(kWindow[2] % kReported[2] == 0 && kReported[2] < 32);

  // A request.
  struct Parcel {
    std::span<const std::byte> argument_bytes() const noexcept {
      return {arguments, words * packet::kWord};
    }

    Kind kind;
    Role role;
    HandlerIndex handler;
    std::uint32_t words;         // of arguments
    const std::byte* arguments;  // that many
    std::span<const std::byte> payload = {};
    std::uint64_t offset = 0;  // of a long message
    // Of a long message: the payload may be used after return, until this is set. nullptr: copy it.
    bool* released = nullptr;
  };

  Far(Endpoint& endpoint, FarMessages& messages);
  ~Far();

  // The translation table has another size; what is cut off is not in use.
  void resize(std::uint32_t translations) { outgoing_.resize(translations); }
  // False: no credit, or not yet introduced. Then poll and try again.
  [[nodiscard]] bool try_send(std::uint32_t to, const Parcel& parcel);
  std::uint32_t in_flight(std::uint32_t to, Kind kind) const noexcept;
  // Of a traced endpoint: the flow of the request that was just sent to `to`. Once for each.
  TraceFlow sent_flow(std::uint32_t to, const UntypedRequest& request) noexcept;
  // Waits until everything that was sent has been handled, or has come back.
  void flush(const Reason& reason);
  // The same for translation `index`, which then says good-bye.
  void close(const To& to);
  // The endpoint's tag will be another: false if it cannot be. And once it is:
  [[nodiscard]] bool change_tag(Tag tag) { return epochs_.change(tag); }
  void tag_changed();
  // What the endpoint admits is another: its segment, or a handler of long messages.
  void announce();
  // Processes have died: drops what was of them here. Then return_unreachable() finds something.
  void bury_dead();
  // Returns requests to the dead; returns how many. Whether it would find one.
  int return_unreachable();
  bool has_unreachable() const noexcept { return unreachable_; }
  // The payload of a long reply that is being made, from its handler. `released`: see Parcel.
  static void place_reply(const Delivery& delivery, const LongRequest& message,
                          std::span<const std::byte> payload, bool* released);

  // A message has come from a process of another node. False: it is damaged. (In deliver.cc,
  // for both kinds of Access.)
  template <class Access>
  [[nodiscard]] bool deliver(Rank from, const link::MessagePacket& message);
  // The same for an endpoint that does not exist (any more).
  static void refuse_unknown(link::Link& link, Rank from, const link::MessagePacket& message);

  // Of a parallel bundle. While one lives, it is its thread's turn to handle messages of the
  // translation that `message` is of; other threads leave these out, which keeps them in order.
  class Turn {
   public:
    Turn(Far& far, Rank from, const link::MessagePacket& message) noexcept;
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Far& far_;
    bool* const mark_;
  };
  bool in_turn(Rank from, const link::MessagePacket& message) noexcept;

 private:
  // What another endpoint has announced of itself.
  struct Announced {
    // False: the packet is damaged.
    [[nodiscard]] bool read(const link::Introduction& packet);
    Verdict judge(const LongRequest& message, bool tag_admits) const noexcept;

    bool admits = false;  // link::kAdmits
    Extent extent;
    std::vector<std::uint32_t> handlers;  // link::make_long_handler()
  };
  // Messages that what is known does not admit, and about which the other has been asked since.
  // Several threads may each have one.
  class Asked {
   public:
    void add(const LongRequest& message);
    bool take(const LongRequest& message);  // false: it is none of these

   private:
    static constexpr std::size_t kMost = 16;  // others may have been given up

    std::vector<LongRequest> messages_;
  };
  // What has come of a long payload that this process copies to its place; all belongs to the next
  // long message of that translation which is in pieces, as packets keep their order.
  class Pieces {
   public:
    // `first`: what there was belongs to a message whose sender has failed. No more than `most`
    // bytes are kept: a longer message does not fit anyway.
    void add(std::span<const std::byte> piece, bool first, std::uint64_t most);
    // Passes the payload to its place; false: it is not as long.
    bool move_to(std::span<std::byte> to);
    void clear();

   private:
    std::vector<std::byte> bytes_;
    bool too_long_ = false;
  };
  // Of a traced endpoint: messages of a translation so far, which both of its ends count. Large
  // ones are counted apart, as others may overtake them.
  struct Counted {
    TracedMessage next(Role role, bool large) noexcept {
      const bool reply = role == Role::kReply;
      std::uint64_t& count = reply ? replies[large] : requests[large];
      return {static_cast<std::uint32_t>(reply) * 2 + static_cast<std::uint32_t>(large), ++count};
    }

    std::uint64_t requests[2] = {};
    std::uint64_t replies[2] = {};
  };
  // A translation of ours that has been used.
  struct Outgoing {
    explicit Outgoing(Port& port) noexcept : answers(port) {}
    // No answer about the other endpoint is to come.
    bool introduced() const noexcept { return (known || gone) && !asking; }
    bool all_read() const noexcept;

    Rank rank;
    std::uint32_t serial;
    std::array<std::uint32_t, kKinds> in_flight{};
    Expectation answers;
    std::optional<Announced> known;  // once it has answered
    Asked asked;
    bool asking = false;                 // ... and an answer has not come
    int flushes = 0;                     // kFlush that have not been answered
    bool gone = false;                   // the other endpoint has ended
    bool in_turn = false;                // see Turn
    Pieces pieces;                       // of its replies
    Correspondent peer;                  // as the source of its replies
    std::unique_ptr<KeptRequests> kept;  // only in a job that goes on without its dead
    Counted counted;
  };
  // A translation of another endpoint that sends to us.
  struct Incoming {
    Rank rank;
    std::uint32_t serial;
    std::uint32_t index;
    std::array<std::uint32_t, kKinds> unreported{};  // one-way requests read
    Correspondent from;
    Announced announced;
    TagEpochs::Epoch epoch;  // of the other's tag, as announced
    bool in_turn = false;    // see Turn
    Pieces pieces;           // of its requests
    Counted counted;
  };
  // The parts of a message that carries something.
  struct Answering;
  struct Body {
    Kind kind = Kind::kShort;
    Kind request = Kind::kShort;  // what a reply answers
    Role was = Role::kRequest;
    link::Place place{};
    bool written = false;    // a long payload, before this packet
    bool in_pieces = false;  // ... has come
    std::span<const std::byte> arguments;
    std::span<const std::byte> payload;

    // False: the packet is damaged.
    [[nodiscard]] bool read(const link::MessagePacket& message) noexcept;
    // Puts the arguments where the handler of a message of that role looks for them.
    shmem::Room write_arguments(Answering& to, Role role) const noexcept;
  };

  // Of a long reply that a handler has made.
  struct LongReply {
    Verdict judge(const LongRequest& message) const noexcept;
    void drop() noexcept;  // it is not sent from its payload

    const Incoming* to = nullptr;  // whose request is being handled
    TagEpochs::Epoch epoch = 0;    // of that request
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
  // One for as long as it lives: of one thread always the same.
  template <class Access>
  class Borrowed;

  // Names a translation of another endpoint.
  struct Key {
    bool operator==(const Key&) const = default;

    Rank rank;
    std::uint32_t serial;
    std::uint32_t index;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const noexcept {
      const std::uint64_t some = std::uint64_t{key.serial} << 32 | key.rank;
      return (some ^ std::uint64_t{key.index} << 24) * 0x9e3779b97f4a7c15u >> 16;
    }
  };
  Outgoing& outgoing(std::uint32_t to);
  Outgoing* find_outgoing(Rank from, const link::MessagePacket& message) noexcept;
  Incoming* find_incoming(Rank from, const link::MessagePacket& message) noexcept;
  bool try_flush(Outgoing& out, std::uint32_t index);
  void send_flush(Outgoing& out, std::uint32_t index);

  // After a death (unreachable.cc).
  bool is_dead(Rank rank) const noexcept;
  bool survives() const noexcept;
  Outgoing* unreachable(std::uint32_t index) const noexcept;
  int return_all(std::uint32_t index);
  bool return_oldest(std::uint32_t index, Kind kind, Role role, int& count);
  void return_with_next_poll() noexcept;

  // Sending (send.cc).
  link::MessagePacket head_to(const Outgoing& to, std::uint32_t index,
                              link::Type type) const noexcept;
  link::MessagePacket head_to(const Incoming& to, link::Type type) const noexcept;
  link::MessagePacket head_to(std::uint32_t serial, std::uint32_t index,
                              link::Type type) const noexcept;
  bool send_long(Outgoing& to, std::uint32_t index, link::MessagePacket head, const Parcel& parcel);
  bool send_together(const Outgoing& to, link::MessagePacket head, const Parcel& parcel);
  bool send_together(const Incoming& to, const link::MessagePacket& head,
                     std::span<const std::byte> arguments, const link::Place& place,
                     const std::byte* payload);
  void keep(Outgoing& to, link::MessagePacket head, const Parcel& parcel);
  std::optional<Verdict> judge(Outgoing& to, std::uint32_t index, const LongRequest& message);
  void send_reply(Incoming& to, Kind request, shmem::Mark reply, Answering& answering);
  void send_long_reply(Incoming& to, link::MessagePacket head, std::span<const std::byte> arguments,
                       LongReply& reply, const std::byte* payload);
  // `payload` in packets of its own, before the message `head`.
  void send_pieces(Rank to, link::MessagePacket head, Role role,
                   std::span<const std::byte> payload);
  void introduce(Rank to, link::MessagePacket head, std::uint8_t detail, Tag tag = kTagNone);
  void introduce(const Outgoing& to, std::uint32_t index, std::uint8_t detail);
  void introduce(const Incoming& to, std::uint8_t detail);
  void send_credits(Incoming& to, bool flushed = false);
  std::uint16_t take_credits(Incoming& to) noexcept;

  // Receiving (deliver.cc).
  template <class Access>
  bool deliver_to_receiver(Rank from, const link::MessagePacket& message);
  template <class Access>
  bool deliver_to_requester(Rank from, const link::MessagePacket& message);
  bool deliver_goodbye(Rank from, const link::MessagePacket& message);
  bool deliver_gone(Rank from, const link::MessagePacket& message);
  static void note_gone(Outgoing& to);
  template <class Access>
  bool deliver_request(Incoming& from, const link::MessagePacket& message, Role role);
  template <class Access>
  bool deliver_reply(Outgoing& from, const link::MessagePacket& message);
  bool deliver_returned(Rank from, const link::MessagePacket& message);
  bool deliver_hello(Rank from, const link::MessagePacket& message);
  bool deliver_extent(Rank from, const link::MessagePacket& message);
  bool deliver_piece(Rank from, const link::MessagePacket& message);
  template <class Access>
  Status try_deliver(Delivery& delivery, const link::MessagePacket& message, const Body& body,
                     Role role, bool tag_admits, Pieces& pieces);
  Status place_payload(const link::MessagePacket& message, const Body& body, Pieces& pieces,
                       std::span<std::byte>& payload);
  static void send_back(link::Link& link, Rank to, const link::MessagePacket& message, Status why);
  // A request of kind `request` has been answered. Whether its reply may be delivered.
  bool answered(Outgoing& from, Kind request, TagEpochs::Epoch epoch);
  void credit(Outgoing& to, const link::MessagePacket& message) noexcept;
  void pass_returned(Rank from, const link::MessagePacket& message, const Body& body,
                     Status status);

  // What is traced (am/core/traced/flows.cc): the flow of the next message of that kind.
  TraceFlow received_flow(Incoming& from, const Body& body) noexcept;
  TraceFlow replied_flow(Incoming& to, const Delivery& delivery,
                         const Answering& answering) noexcept;
  TraceFlow answered_flow(Outgoing& from, std::uint32_t index, const Body& body) noexcept;

  // Among threads (parallel.cc).
  bool* turn_of(Rank from, const link::MessagePacket& message) noexcept;

  Endpoint& endpoint_;
  FarMessages& messages_;
  Port& port_;
  // Owned by the bundle's thread, or guarded by its lock.
  TagEpochs epochs_;
  std::map<std::uint32_t, std::unique_ptr<Outgoing>> all_outgoing_;  // by translation index
  SparseTable<Outgoing*> outgoing_;  // the same, to look one up; nullptr: it was never used
  std::unordered_map<Key, std::unique_ptr<Incoming>, HashOfKey> incoming_;
  Key last_key_{};                     // the one found last: many come in a row
  Incoming* last_incoming_ = nullptr;  // nullptr: none
  bool unreachable_ = false;           // there may be requests to the dead
  int turns_ = 0;                      // objects of class Turn
  const std::unique_ptr<Answering> own_answering_ = std::make_unique<Answering>();
  ObjectPool<Answering> answerings_;  // of several threads
};

}  // namespace am
