#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "am/link/datagram/window/peer.h"
#include "tests/am/link/datagram/window/test_seal.h"

namespace am::link::window {

// One of two processes, 0 and 1, with its only peer: for measurements in virtual time.
class End {
 public:
  explicit End(Rank rank) : options_{.rank = rank, .incarnation = 1 + rank} {}

  Peer& peer() { return peer_; }
  // It looks for datagrams again after it had not for long.
  void resume(std::int64_t now_ns) { shared_.resumed_ns = now_ns; }
  void put(std::uint32_t bytes) {
    const PacketHeader head = make_header(Type::kBarrier, bytes);
    std::memcpy(peer_.claim(bytes), &head, sizeof head);
    peer_.commit();
  }
  // Returns how many bytes were delivered.
  std::size_t receive(std::span<const std::byte> bytes, std::int64_t now_ns) {
    Datagram datagram{};
    if (decode(bytes, test_seal(options_.rank), datagram) != Decoded::kGood) return 0;
    std::size_t delivered = 0;
    if (peer_.receive(datagram, now_ns, true) == Peer::Received::kDeliver) {
      delivered += datagram.payload.size();
    }
    while (Slot* const slot = peer_.next_kept()) {
      delivered += slot->payload().size();
      early_.give_back(*slot);
    }
    return delivered;
  }

 private:
  SlotPool::Source source() {
    return [this](std::size_t bytes) {
      memory_.push_back(std::make_unique<std::byte[]>(bytes));
      return SlotPool::Slab{{memory_.back().get(), bytes}, nullptr};
    };
  }

  std::vector<std::unique_ptr<std::byte[]>> memory_;
  Options options_;
  Counters counters_;
  Staging staging_;
  SlotPool outgoing_{source(), 1472};
  SlotPool early_{source(), 1472, 512 * 1472};
  Shared shared_{options_, outgoing_, early_, staging_, counters_};
  Peer peer_{shared_, 2 - options_.rank, test_seal(1 - options_.rank)};
};

}  // namespace am::link::window
