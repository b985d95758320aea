#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "am/core/endpoint.h"
#include "am/core/far_messages.h"
#include "am/link/link.h"
#include "am/message/tag_epochs.h"

namespace am {

// The part of an endpoint that sends to and receives from endpoints of other nodes.
//
// A translation introduces itself to the other endpoint before its first request (kHello), so that
// the other knows its tag and can answer; the answer says which long messages the other admits. A
// request is in flight until its answer has come, a one-way request until the other has reported it
// as read; answers need no room at the other end, as the requester has set it aside.
//
// A long payload that does not fit a packet is written before its packet, so its sender decides
// whether it is admitted (am/message/admission.h), by what the other has announced. What it knows
// may be old. Where it says yes, the message is delivered: it was admitted when that was announced.
// Where it says no, the sender asks once more, and refuses by the answer.
//
// An endpoint that ends says so to those who send to it (kGone) and to those it sends to
// (kGoodbye). Its process answers whatever comes later: messages go back, and nobody waits for it.
class Endpoint::Far {
 public:
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

  // False: no credit, or not yet introduced. Then poll and try again.
  [[nodiscard]] bool try_send(std::uint32_t to, const Parcel& parcel);
  std::uint32_t in_flight(std::uint32_t to, Kind kind) const noexcept;
  // Waits until everything that was sent has been handled, or has come back.
  void flush(const Reason& reason);
  // The same for translation `index`, which then says good-bye.
  void close(const To& to);
  // The endpoint's tag will be another: false if it cannot be. And once it is:
  [[nodiscard]] bool change_tag(Tag tag) { return epochs_.change(tag); }
  void tag_changed();
  // What the endpoint admits is another: its segment, or a handler of long messages.
  void announce();
  // The payload of a long reply that is being made, from its handler.
  void place_reply(const LongRequest& message, std::span<const std::byte> payload);

  // A message has come from a process of another node. False: it is damaged.
  [[nodiscard]] bool deliver(Rank from, const link::MessagePacket& message);
  // The same for an endpoint that does not exist (any more).
  static void refuse_unknown(link::Link& link, Rank from, const link::MessagePacket& message);

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
    std::optional<Announced> known;    // once it has answered
    std::optional<LongRequest> asked;  // about this one, which `known` does not admit
    bool asking = false;               // ... and the answer has not come
    int flushes = 0;                   // kFlush that have not been answered
    bool gone = false;                 // the other endpoint has ended
    Correspondent peer;                // as the source of its replies
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
  };
  struct Body;

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

  // Sending (far_send.cc).
  link::MessagePacket head_to(const Outgoing& to, std::uint32_t index,
                              link::Type type) const noexcept;
  link::MessagePacket head_to(const Incoming& to, link::Type type) const noexcept;
  bool send_long(Outgoing& to, std::uint32_t index, link::MessagePacket head, const Parcel& parcel);
  std::optional<Verdict> judge(Outgoing& to, std::uint32_t index, const LongRequest& message);
  void send_reply(Incoming& to, Kind request, shmem::Mark reply, TagEpochs::Epoch epoch);
  void send_long_reply(Incoming& to, link::MessagePacket head,
                       std::span<const std::byte> arguments);
  void introduce(Rank to, link::MessagePacket head, std::uint8_t detail, Tag tag = kTagNone);
  void introduce(const Outgoing& to, std::uint32_t index, std::uint8_t detail);
  void introduce(const Incoming& to, std::uint8_t detail);
  void send_credits(Incoming& to, bool flushed = false);
  std::uint16_t take_credits(Incoming& to) noexcept;

  // Receiving (far_deliver.cc).
  bool deliver_to_receiver(Rank from, const link::MessagePacket& message);
  bool deliver_to_requester(Rank from, const link::MessagePacket& message);
  bool deliver_goodbye(Rank from, const link::MessagePacket& message);
  bool deliver_gone(Rank from, const link::MessagePacket& message);
  bool deliver_request(Incoming& from, const link::MessagePacket& message, Role role);
  bool deliver_reply(Outgoing& from, const link::MessagePacket& message);
  bool deliver_returned(Rank from, const link::MessagePacket& message);
  bool deliver_hello(Rank from, const link::MessagePacket& message);
  bool deliver_extent(Rank from, const link::MessagePacket& message);
  Status try_deliver(Delivery& delivery, const link::MessagePacket& message, const Body& body,
                     Role role, bool tag_admits);
  Status place_payload(const link::MessagePacket& message, const Body& body,
                       std::span<std::byte>& payload);
  static void send_back(link::Link& link, Rank to, const link::MessagePacket& message, Status why);
  // A request of kind `request` has been answered. Whether its reply may be delivered.
  bool answered(Outgoing& from, Kind request, TagEpochs::Epoch epoch);
  void credit(Outgoing& to, const link::MessagePacket& message) noexcept;

  Endpoint& endpoint_;
  FarMessages& messages_;
  Port& port_;
  // Owned by the bundle's thread.
  TagEpochs epochs_;
  std::vector<std::unique_ptr<Outgoing>> outgoing_;  // by translation index
  std::unordered_map<Key, std::unique_ptr<Incoming>, HashOfKey> incoming_;
  Key last_key_{};                     // the one found last: many come in a row
  Incoming* last_incoming_ = nullptr;  // nullptr: none
  // Where a handler writes its reply, as it would into a mailbox.
  shmem::Slot slot_{};
  shmem::Extension extension_{};
  std::array<std::byte, shmem::kPayloadBytes> reply_payload_;
  shmem::Room room_{&slot_, &extension_, nullptr, reply_payload_.data()};
  // ... and where a long one goes.
  struct LongReply {
    const Incoming* to = nullptr;  // whose request is being handled
    TagEpochs::Epoch epoch = 0;    // of that request
    link::Place place{};
    Status status = Status::kDelivered;
    std::vector<std::byte> payload;  // if it does not fit reply_payload_
  } long_reply_;
};

}  // namespace am
