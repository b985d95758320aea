// A network that does all that a Link may do, as a seed decides: packets stay under way for long,
// accesses complete in any order and at any time, and there is no room now and then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "am/link/link.h"
#include "tests/am/sim/schedule.h"

namespace am::sim {

struct NetworkOptions {
  bool rma = true;
  bool writes_before_packets = false;
  bool prefers_packets = false;
  bool writes_with_packets = false;
  unsigned no_room = 4;  // one in so many operations is refused; 0: none
};

class Network {
 public:
  using Options = NetworkOptions;

  Network(Schedule& schedule, std::uint32_t processes, const Options& options)
      : schedule_(schedule), options_(options), ends_(processes) {}

  // The link of one process, whose segment others may access.
  std::unique_ptr<link::Link> make_link(Rank rank, std::span<std::byte> segment);

  // How often something was refused, delivered late, or completed.
  struct Stats {
    std::uint64_t packets = 0;
    std::uint64_t accesses = 0;
    std::uint64_t refused = 0;
  };
  const Stats& stats() const noexcept { return stats_; }

 private:
  friend class SimLink;

  // Travels behind what was sent before to the same process: a packet, a write that comes before
  // later packets, or a write with a packet.
  struct Item {
    std::vector<std::uint64_t> packet;  // words: packets are aligned
    link::RemoteKey at{};               // of a write, in the memory of its receiver
    std::vector<std::byte> bytes;
  };
  // A write that keeps no order, and then a word.
  struct Put {
    std::byte* to;
    std::span<const std::byte> from;
    std::vector<std::byte> copy;             // what `from` refers to, if it was reusable at once
    link::Completion* completion = nullptr;  // of the sender, whose rank follows; nullptr: called
    Rank sender = 0;
    std::uint64_t word = 0;
  };
  struct Access {
    Rank rank;
    link::RemoteKey at;
    std::span<std::byte> local;
    bool write;
    bool applied = false;
    link::Completion* completion;
  };
  // What one process has at the network.
  struct End {
    std::span<std::byte> segment;
    std::map<Rank, std::deque<Item>> incoming;  // by source
    std::deque<Put> puts;                       // to this process
    std::vector<Access> accesses;               // by this process
    std::uint32_t puts_in_flight = 0;           // of this process, whose sources are in use
    std::deque<link::Completion*> complete;     // to be called by its next poll
  };

  // Whether there is room now.
  bool room() noexcept;
  // Memory of `rank` that others may access as `key`. Judged when the access is
  // made, as a network does.
  std::byte* memory(Rank rank, const link::RemoteKey& key, std::size_t bytes);
  void apply(Access& access);

  Schedule& schedule_;
  const Options options_;
  std::vector<End> ends_;  // by rank
  struct Registered {
    Rank rank;
    std::span<std::byte> range;
  };
  std::map<std::uint64_t, Registered> registered_;  // by key
  std::uint64_t next_key_ = 1;
  Stats stats_;
};

}  // namespace am::sim
