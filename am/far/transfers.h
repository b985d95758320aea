#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/far/one_sided.h"
#include "am/link/link.h"
#include "am/types/object_pool.h"
#include "am/types/types.h"

namespace am {

// Writes to other nodes' segments that are each followed by a packet: the receiver gets the packet
// when the bytes are there. Long messages and large stores are made of these. Those of up to
// Sizes::before_packet bytes go in packets.
//
// Thread rule: its callers are inside the port (am/route/port.h).
class Transfers {
 public:
  // Longest packet that can follow.
  static constexpr std::size_t kMaxPacket =
      sizeof(link::MessagePacket) + sizeof(link::Place) + kMaxArgumentBytes;

  Transfers(link::Link& link, OneSided& one_sided) noexcept : link_(link), one_sided_(one_sided) {}

  // Copies `data`, writes it, and sends `packet`.
  void start_copy(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                  std::span<const std::byte> packet);
  // Starts a transfer of `data` by swapping: that is left with memory of an earlier copy.
  void start_swap(Rank to, std::uint64_t offset, std::vector<std::byte>& data,
                  std::span<const std::byte> packet);
  // Starts a transfer without a copy: calls release(released) when `data`, which is not copied, may
  // be reused (am/types/shared_words.h).
  void start(Rank to, std::uint64_t offset, std::span<const std::byte> data,
             std::span<const std::byte> packet, bool& released);
  // Starts a transfer without a copy that calls `completion` then, perhaps before return.
  void start(Rank to, std::uint64_t offset, std::span<const std::byte> data,
             std::span<const std::byte> packet, link::Completion& completion);

  // Whether a write and its packet would best be one operation now: the network has that, and they
  // are not few bytes of a stream, which packets carry better.
  bool goes_together(Rank to, std::size_t bytes) {
    return link_.queue(to, bytes) == link::Queue::kTogether;
  }
  // That, or nothing: then false. Without `released` the bytes are copied.
  bool try_together(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                    std::span<const std::byte> packet, bool* released);

  // Starts what found no room before; call it with every poll.
  void resume();
  bool idle() const noexcept { return transfers_.in_use() == 0; }
  // Packets that are still to be sent to `to`.
  bool owes(Rank to) const noexcept;

 private:
  struct Transfer : link::Completion {
    std::span<const std::byte> copy_of(std::span<const std::byte> bytes) {
      copy.assign(bytes.begin(), bytes.end());
      return copy;
    }

    Transfers* owner = nullptr;
    Rank to = 0;
    std::uint64_t offset = 0;
    std::span<const std::byte> data;
    std::vector<std::byte> copy;  // what data refers to, unless it is the caller's
    bool* released = nullptr;
    link::Completion* completion = nullptr;
    bool free = true;
    bool packet_sent = false;
    std::uint32_t packet_bytes = 0;
    std::array<std::byte, kMaxPacket> packet;
  };

  bool try_by_packets(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                      std::span<const std::byte> packet);
  Transfer& take(Rank to, std::uint64_t offset, std::span<const std::byte> packet);
  bool try_together(Transfer& transfer);
  bool try_start(Transfer& transfer);
  void begin(Transfer& transfer);
  void send_packet(Transfer& transfer);
  void give_back(Transfer& transfer) noexcept;
  static void written(link::Completion& completion);

  // Constant after construction.
  link::Link& link_;
  OneSided& one_sided_;
  // Guarded by the port's lock.
  ObjectPool<Transfer> transfers_;
  std::vector<Transfer*> waiting_;  // to be started, oldest first
};

}  // namespace am
