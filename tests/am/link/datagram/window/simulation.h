#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "am/link/datagram/window/peer.h"
#include "tests/am/link/datagram/window/random.h"
#include "tests/am/link/datagram/window/weather.h"

namespace am::link::window {

// A few processes and a network of datagrams that does its worst, under a virtual clock: one seed
// decides everything. Nothing here knows how the window works; what is delivered is compared with
// what was to be sent, which follows from the seed.
//
// Held at every step: packets come once, in order and with their content; what is in flight and
// what is kept stay within their bounds; the memory of a datagram does not change while the network
// reads it; what is damaged, forged, or of an earlier incarnation is dropped, and each such
// datagram is counted where it belongs; nobody who lives is given up. In the end: when the network
// has healed everything comes, and is acknowledged, in bounded time; who has died is noticed.
class Simulation {
 public:
  struct Result {
    std::string failure;      // "": none
    std::uint64_t order = 0;  // a digest of who delivered what, and when
    std::uint64_t packets = 0;
    Counters counters;       // of all processes
    std::uint64_t lost = 0;  // datagrams, by the network
  };

  explicit Simulation(std::uint64_t seed);
  ~Simulation();
  Result run();

 private:
  // A packet of the conversation from one process to another: content follows from what it is.
  struct Conversation {
    std::uint64_t name = 0;       // of this conversation, and no other
    std::uint64_t total = 0;      // packets that are to be sent
    std::uint64_t committed = 0;  // ... so far
    std::uint64_t delivered = 0;
    std::uint32_t room = 0;  // the most bytes that the receiver has had room for, or one datagram
  };
  struct Process {
    std::uint32_t rank = 0;
    std::uint64_t key = 0;
    Options options;
    Counters counters;
    Staging staging;
    std::unique_ptr<SlotPool> outgoing, early;
    std::unique_ptr<Shared> shared;
    std::vector<std::unique_ptr<Peer>> peers;  // by rank
    std::deque<std::uint32_t> socket;          // datagrams that have come
    std::uint64_t damaged = 0;                 // of those that it has read: were not genuine
    std::uint64_t impossible = 0;
    std::uint64_t old = 0;
    std::int64_t clock_ns = 0;  // its own clock is ahead of the virtual one by that
    std::int64_t paused_until_ns = 0;
    std::int64_t polled_ns = 0;
    std::int64_t next_poll_ns = -1;
    bool alive = true;
  };
  // A datagram on its way.
  struct Carried {
    std::vector<std::byte> bytes;
    std::uint32_t to = 0;
    std::uint32_t from = 0;
    std::uint32_t from_incarnation = 0;
    std::uint64_t key = 0;  // of its receiver, when it was sent
    bool damaged = false;
    bool impossible = false;
  };
  struct Event {
    enum Kind : std::uint8_t { kArrival, kPoll, kRead, kPause, kPartition, kRestart, kDeath };
    std::int64_t at_ns;
    std::uint64_t serial;
    Kind kind;
    std::uint32_t which;  // process or datagram
    // kRead: the network has read that slot.
    std::uint32_t peer = 0;
    std::uint32_t incarnation = 0;
    std::uint32_t peer_incarnation = 0;
    Slot* slot = nullptr;
    std::uint64_t digest = 0;
    bool operator<(const Event& other) const noexcept {
      return at_ns != other.at_ns ? at_ns > other.at_ns : serial > other.serial;
    }
  };

  void start(Process& process);
  void meet(std::uint32_t one, std::uint32_t other);
  void plan();
  void handle(const Event& event);
  void poll(Process& process);
  void read(Process& process, const Carried& carried, bool may_deliver);
  void read_stream(Process& process, std::uint32_t from, std::span<const std::byte> payload);
  void submit(Process& process);
  void send_all(Process& process, std::uint32_t to);
  void carry(const Process& process, std::uint32_t to, std::span<const std::byte> bytes);
  std::uint32_t charge_of_one() const {
    return charge(static_cast<std::uint32_t>(weather_.datagram_bytes));
  }
  void disturb(Carried& carried);
  void forge(const Process& process, std::uint32_t to);
  void replay();
  void launch(std::uint32_t carried, std::int64_t after_ns);
  std::uint32_t take_carried();
  void check_bounds(const Process& process);
  void schedule(Event event);
  void schedule_poll(Process& process, std::int64_t at_ns);
  void restart(Process& process);
  bool finished();
  bool complete() const;
  bool cut_off(std::uint32_t one, std::uint32_t other) const;
  void fail(const std::string& sentence);

  Conversation& conversation(std::uint32_t from, std::uint32_t to) {
    return conversations_[from * weather_.processes + to];
  }
  bool healed() const noexcept { return now_ns_ >= weather_.heals_ns; }

  Random random_;
  const Weather weather_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<Conversation> conversations_;
  std::vector<std::int64_t> cut_until_ns_;  // by pair
  std::vector<Carried> carried_;
  std::vector<std::uint32_t> free_;
  std::vector<Carried> recorded_;  // for replays
  std::priority_queue<Event> events_;
  std::uint64_t serial_ = 0;
  std::uint64_t names_ = 0;
  std::uint32_t incarnations_ = 0;
  std::int64_t now_ns_ = 0;
  std::optional<std::uint32_t> dead_;
  std::optional<std::int64_t> complete_ns_;
  Result result_;
};

}  // namespace am::link::window
