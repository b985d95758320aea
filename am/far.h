#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "am/endpoint.h"
#include "am/link/link.h"
#include "am/port.h"

namespace am {

// The part of an endpoint that sends to and receives from endpoints of other nodes.
//
// A translation introduces itself to the other endpoint before its first request (kHello), so that
// the other knows tag and segment and can answer. A request is in flight until its answer has come,
// a one-way request until the other has reported it as read; answers need no room at the other end,
// as the requester has set it aside.
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

  Far(Endpoint& endpoint, Port& port);
  ~Far();

  // False: no credit, or not yet introduced. Then poll and try again.
  [[nodiscard]] bool try_send(std::uint32_t to, const Parcel& parcel);
  std::uint32_t in_flight(std::uint32_t to, Kind kind) const noexcept;
  // Waits until everything sent by translation `index` has been handled, and says good-bye.
  void close(std::uint32_t index);
  // The endpoint's tag or segment is another.
  void set_tag() noexcept;
  void set_extent();
  // The payload of a long reply to `from` that is being made: where it is to go, from the handler.
  void place_reply(const Correspondent& from, std::uint64_t offset,
                   std::span<const std::byte> payload);

  // A message has come from a process of another node. False: it is damaged.
  [[nodiscard]] bool deliver(Rank from, const link::MessagePacket& message);
  // The same for an endpoint that does not exist (any more).
  static void refuse_unknown(link::Link& link, Rank from, const link::MessagePacket& message);

 private:
  // A translation of ours that has been used.
  struct Outgoing {
    Rank rank;
    std::uint32_t serial;
    std::array<std::uint32_t, kKinds> in_flight{};
    std::optional<Extent> extent;  // of the other endpoint, once it has told
    bool flushed = false;          // a kFlush has been answered
    Correspondent peer;            // as the source of its replies
  };
  // A translation of another endpoint that sends to us.
  struct Incoming {
    Rank rank;
    std::uint32_t serial;
    std::uint16_t index;
    std::array<std::uint8_t, kKinds> unreported{};  // one-way requests read
    Correspondent from;
    PublishedExtent extent;
  };
  struct Body;

  static std::uint64_t key(Rank rank, std::uint32_t serial, std::uint16_t index) noexcept {
    return std::uint64_t{rank} << 40 | (std::uint64_t{serial} << 16 & 0xff'ffff'0000) | index;
  }
  Outgoing& outgoing(std::uint32_t to);
  Outgoing* find_outgoing(Rank from, const link::MessagePacket& message) noexcept;
  Incoming* find_incoming(Rank from, const link::MessagePacket& message) noexcept;

  // Sending (far_send.cc).
  link::MessagePacket head_to(const Outgoing& to, std::uint32_t index,
                              link::Type type) const noexcept;
  link::MessagePacket head_to(const Incoming& to, link::Type type) const noexcept;
  void send_request(Outgoing& to, std::uint32_t index, const Parcel& parcel);
  bool send_long(Outgoing& to, std::uint32_t index, const Parcel& parcel);
  void send_reply(Incoming& to, Kind request, shmem::Mark reply);
  void send_long_reply(Incoming& to, link::MessagePacket head,
                       std::span<const std::byte> arguments);
  void introduce(Rank to, link::MessagePacket head, Tag tag);
  void send_credits(Incoming& to, bool flushed = false);
  void take_credits(Incoming& from, link::MessagePacket& head) noexcept;

  // Receiving (far_deliver.cc).
  bool deliver_to_receiver(Rank from, const link::MessagePacket& message);
  bool deliver_to_requester(Rank from, const link::MessagePacket& message);
  bool deliver_goodbye(Rank from, const link::MessagePacket& message);
  bool deliver_request(Incoming& from, const link::MessagePacket& message, Role role);
  bool deliver_reply(Outgoing& from, const link::MessagePacket& message);
  bool deliver_returned(Rank from, const link::MessagePacket& message);
  bool deliver_hello(Rank from, const link::MessagePacket& message);
  bool deliver_extent(Rank from, const link::MessagePacket& message);
  Status try_invoke(Delivery& delivery, const link::MessagePacket& message, const Body& body,
                    Role role);
  Status place_payload(Delivery& delivery, const link::MessagePacket& message, const Body& body);
  static void send_back(link::Link& link, Rank to, const link::MessagePacket& message, Status why);
  void answered(Outgoing& from, Kind request) noexcept;
  void credit(Outgoing& to, const link::MessagePacket& message) noexcept;

  Endpoint& endpoint_;
  Port& port_;
  // Owned by the bundle's thread.
  std::vector<std::unique_ptr<Outgoing>> outgoing_;  // by translation index
  std::unordered_map<std::uint64_t, std::unique_ptr<Incoming>> incoming_;
  std::uint64_t last_key_ = 0;         // the one found last: many come in a row
  Incoming* last_incoming_ = nullptr;  // nullptr: none
  // Where a handler writes its reply, as it would into a mailbox.
  shmem::Slot slot_{};
  shmem::Extension extension_{};
  std::array<std::byte, shmem::kPayloadBytes> reply_payload_;
  shmem::Room room_{&slot_, &extension_, nullptr, reply_payload_.data()};
  std::vector<std::byte> long_reply_;  // its payload, if it does not fit there
};

}  // namespace am
