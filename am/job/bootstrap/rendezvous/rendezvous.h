// This room is for jobs that no launcher holds together: the processes find rank 0 over TCP, prove
// that they belong to the job, and stay connected to it. It uses am/job/bootstrap, which does not
// know it, am/job/config/config.h, am/sodium and shmem. Nobody is believed before the proof, no
// message may be larger than the job's largest, and no loss goes unnoticed.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/bootstrap/rendezvous/meeting.h"
#include "am/job/bootstrap/rendezvous/messages.h"
#include "am/job/bootstrap/rendezvous/watch.h"
#include "am/job/config/config.h"
#include "am/types/types.h"

namespace am {

// Which processes forward to which what rank 0 sends to all. In a small job rank 0 sends to all
// itself. In a larger one these would be as many messages as processes, each with data of every
// process, so each process forwards to a few others, over connections that are made and proved as
// the first ones are (meeting.h).
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

// Whether every process can reach every door, judging by the addresses of all processes but rank 0:
// it cannot if only some of them are known by the address of their machine alone.
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

// A process that no launcher started, or one that says nothing of the others: it was given its rank
// and a place to meet (SPLITC_RENDEZVOUS).
class BootstrapRendezvous final : public Bootstrap {
 public:
  // Meets the others. Throws Error when that does not succeed within `patience`.
  BootstrapRendezvous(Rank rank, std::uint32_t size, const Rendezvous& where,
                      std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~BootstrapRendezvous() override;

  Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "rendezvous"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override;
  void finished() override;

 private:
  void report_abort(int exit_code, std::string_view sentence) override;
  void join_relays(const MeetingPlace& place);
  bool passes(bool mine);
  Door door_of_parent(const Door& mine);
  std::vector<std::vector<std::byte>> collect(std::span<const std::byte> mine);
  std::vector<std::byte> spread(std::vector<std::byte> said);

  const Rank rank_;
  const std::uint32_t size_;
  Relays relays_;
  Watch watch_;
  bool finished_ = false;
};

}  // namespace am
