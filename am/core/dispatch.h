#pragma once

#include <cstdint>
#include <span>

#include "am/core/endpoint.h"
#include "am/message/packet.h"

// From a message of this node to its handler (dispatch.cc), or back to its sender (returned.cc).

namespace am {

// What the mailbox passes its messages to.
class Endpoint::Dispatch {
 public:
  explicit Dispatch(Endpoint& endpoint) noexcept : endpoint_(endpoint) {}

  shmem::Doorbell& opened(std::uint32_t inbox, std::span<const std::byte> caller);
  void closed(std::uint32_t inbox);
  template <shmem::Lane kLane>
  shmem::Mark request(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark);
  template <shmem::Lane kLane>
  shmem::Mark one_way(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark);
  template <shmem::Lane kLane>
  void unread(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark) {
    unread_reply(endpoint_.correspondents_[inbox], room, packet::fields_of(mark));
  }

 private:
  // The unusual ends of a message, out of the way of the usual one.
  [[gnu::cold]] shmem::Mark refuse(const Delivery& delivery, Status why);
  [[gnu::cold]] void rejected_reply(const Correspondent& from, const shmem::Room& room,
                                    packet::MarkFields fields);
  void unread_reply(const Correspondent& from, const shmem::Room& room, packet::MarkFields fields);
  void take_back(Returned& reply, const Correspondent& from, Status why);

  Endpoint& endpoint_;
};

// What comes back of one translation's requests.
class Endpoint::ReplyDispatch {
 public:
  ReplyDispatch(Endpoint& endpoint, std::uint32_t to) noexcept
      : endpoint_(endpoint), near_(*endpoint.translations_[to].near), to_(to) {}
  template <shmem::Lane kLane>
  void reply(const shmem::Room& room, shmem::Mark mark);
  template <shmem::Lane kLane>
  void returned(const shmem::Room& room) {
    take_back(packet::kind_of(kLane), room, Opcode::kOneWay);
  }
  // The endpoint there has ended without having read this request.
  template <shmem::Lane kLane>
  void undelivered(const shmem::Room& room, shmem::Mark mark) {
    if (packet::fields_of(mark).form != 0) return;  // not the user's
    const bool one_way = (mark & packet::kOneWay) != 0;
    packet::put_status(room, Status::kBadEndpoint);
    settle<kLane>(room);
    take_back(packet::kind_of(kLane), room, one_way ? Opcode::kOneWay : Opcode::kRequest);
  }

 private:
  // Whether the endpoint's tag still admits the reply to the request in `room`.
  template <shmem::Lane kLane>
  bool settle(const shmem::Room& room) {
    if (near_.retagged.empty()) [[likely]]
      return true;
    return endpoint_.settle_tag(to_, shmem::index(kLane), near_.box->slot_of<kLane>(room));
  }
  template <shmem::Lane kLane, Kind kKind>
  void deliver(const shmem::Room& room, packet::MarkFields fields, bool tag_admits);
  [[gnu::cold]] void reject(shmem::Lane lane, Kind kind, packet::MarkFields fields,
                            const shmem::Room& room, Status why);
  template <shmem::Lane kLane>
  void reject_in(Kind kind, packet::MarkFields fields, const shmem::Room& room, Status why);
  [[gnu::cold]] void take_back(Kind kind, const shmem::Room& room, Opcode opcode);

  Endpoint& endpoint_;
  const Near& near_;
  const std::uint32_t to_;
};

}  // namespace am
