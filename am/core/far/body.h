#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/core/far/peers.h"
#include "am/link/packet.h"
#include "am/message/admission.h"
#include "am/types/types.h"
#include "shmem/mailbox.h"

// A message between nodes as its handler gets it, and the reply that the handler makes.
//
// Thread rule: that of the call in which they live.

namespace am::far {

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
