// Who passes on to whom what rank 0 sends to all. In a job of a few processes it does so itself. In
// a larger one these would be as many messages as processes, each with something of every process:
// there each passes it on to a few others, over connections that are made and proved as the first
// ones are (meeting.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "am/job/bootstrap/rendezvous/meeting.h"
#include "am/job/bootstrap/rendezvous/messages.h"
#include "am/types/types.h"

namespace am {

struct Relays {
  static constexpr std::uint32_t kStar = 64;     // processes that rank 0 alone serves
  static constexpr std::uint32_t kChildren = 8;  // of each process in a larger job

  Rank parent = 0;
  Awaited children = {0, 0};

  static Relays star(Rank me, std::uint32_t size);
  static Relays tree(Rank me, std::uint32_t size);
};

// Where a process is, and listens for its children; sent as it is.
struct Door {
  std::uint16_t family;  // AF_INET, AF_INET6; 0: cannot be said in so few bytes
  std::uint16_t port;    // 0: it has no children
  std::array<std::byte, 16> address;

  bool is_loopback() const;
};
static_assert(sizeof(Door) == 20);

// Whether every process may reach every door, as far as the addresses of all processes but rank 0
// tell: if some are known by the address of their machine only and others are not, it may not.
bool can_meet(std::span<const Door> doors);

// One process of the tree, but for rank 0, while it is made.
class RelayMeeting {
 public:
  // `here`: this process's address on its connection to rank 0.
  RelayMeeting(const MeetingPlace& place, const SocketAddress& here);

  const Door& door() const { return door_; }
  // The connections to the process behind `parent`, if that is not rank 0, and to the children.
  // std::nullopt: not all of them could be made before the deadline of the place.
  std::optional<std::vector<Met>> meet(const Door& parent);

 private:
  MeetingPlace place_;
  const Relays relays_;
  Door door_{};
  Connection listener_;  // none: it has no children
};

}  // namespace am
