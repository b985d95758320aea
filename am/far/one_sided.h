#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "am/far/packets.h"
#include "am/link/link.h"
#include "am/types/object_pool.h"
#include "am/types/types.h"

namespace am {

class Router;

// The sizes, in bytes, up to which what goes to another node is put in packets. Longer ones are
// written or read by the network itself (RMA). When packets wait for others is the link's
// (am/link/fabric/send.cc).
struct Sizes {
  explicit Sizes(const link::Abilities& can) noexcept
      : before_packet(
            can.packet_write != 0
                ? can.packet_write
                : if_emulated(can, std::min<std::size_t>(can.frame_bytes - 1024, 32'768))),
        access(if_emulated(can, std::min<std::size_t>(can.frame_bytes / 2, 16'384))),
        store(std::max<std::size_t>(access, link::kMaxData)) {}

  // A payload of a long message of at most so many bytes is always in the message's own packet. One
  // of at most link::kMaxData is there unless the network can write payload and packet in one
  // operation (link::Queue::kTogether), which copies no byte twice.
  static constexpr std::size_t kCarried = 256;

  // The payload of a longer message, or a large store, in packets before the one that announces it.
  const std::size_t before_packet;
  // A get or put of at most so many bytes goes in packets, but for the first few in flight, which
  // go by RMA.
  const std::size_t access;
  const std::size_t store;

 private:
  // Where each access costs a send anyway, copying so many bytes twice costs less than a send more.
  static std::size_t if_emulated(const link::Abilities& can, std::size_t bytes) noexcept {
    return can.emulated ? bytes : 0;
  }
};

// Reads and writes of other nodes' segments: by the network itself where it can (RMA), else by
// messages that the target answers when it polls.
//
// Where the provider emulates RMA by messages anyway, accesses of up to Sizes::access bytes that
// start while others are in flight, or find no room, are sent as packets of ours instead: many of
// these share one send.
//
// Thread rule: its callers are inside the port (am/route/port.h).
class OneSided {
 public:
  OneSided(Router& router, link::Link& link, Tails& tails);

  // The calls of link::Link for all of memory: false means that there is no room now. Memory and
  // completion live until done. A read or write; of memory that its owner has registered only with
  // RMA, and kWriteBeforePackets needs writes_before_packets(bytes).
  bool try_access(const link::RmaAccess& access, link::Completion& completion);
  // By the network itself, unless enough of these are in flight, or it cannot.
  [[gnu::always_inline]] bool try_alone(const link::RmaAccess& access,
                                        link::Completion& completion) {
    if (!rma_ || counted_.in_use() == kAlone) return false;
    Counted& counted = counted_.take([this](Counted& made, std::uint32_t) {
      made.owner = this;
      made.done = &ended;
    });
    counted.counted = &completion;
    if (link_.try_access(access, counted)) return true;
    counted_.give_back(counted);
    return false;
  }
  bool writes_before_packets(std::size_t bytes) const noexcept {
    return bytes <= link_.can().ordered_write;
  }

  // Writes by packets, copied at once. Next comes the commit of the packet that announces it, which
  // arrives when the bytes are there. Up to Sizes::before_packet this is faster than an access
  // followed by a packet.
  void write_by_packets(Rank to, std::uint64_t offset, std::span<const std::byte> from);

  const Sizes& sizes() const noexcept { return sizes_; }

  // Starts what could not be sent before; call it with every poll.
  void resume();
  // Ends the accesses by messages that will not be answered, as the network ends its own: what they
  // were to read is undefined. Ends those that were started since, too.
  void end_accesses_of_dead();
  // Nothing is in flight by messages.
  bool idle() const noexcept { return accesses_.idle(); }

  // A packet of one of the types below has arrived from `from`. False: it is damaged, or answers
  // nothing that this process has asked of that one.
  bool serve_get(Rank from, const link::Access& packet);
  bool serve_put(Rank from, const link::Access& packet);
  bool take_write(Rank from, const link::Access& packet);
  bool take_answer(Rank from, const link::Access& packet);  // kGot, kPutDone
  bool take_store(Rank from, const link::Access& packet);
  bool take_stores(Rank from, const link::Stores& packet);
  bool take_count(Rank from, const link::Count& packet);

  // Writes `data` at `offset` of `to`'s segment without an answer, and adds the number of its bytes
  // to the word at `counter` there. Copied at once, so for at most Sizes::store bytes. False: no
  // room now.
  [[nodiscard]] bool try_store(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                               std::uint64_t counter);
  // Adds a store of 1 to kSmall bytes to the last packet of such stores, if that can take it.
  // False: it cannot.
  static constexpr std::size_t kSmall = 8;
  [[gnu::always_inline]] bool try_append(Rank to, std::uint64_t offset,
                                         std::span<const std::byte> data, std::uint64_t counter) {
    const auto bytes = static_cast<std::uint8_t>(data.size());
    const link::PacketHeader* const packet =
        tails_.find(to, link::Type::kStores, bytes, sizeof(link::SmallStore));
    if (packet == nullptr || reinterpret_cast<const link::Stores*>(packet)->counter != counter)
        [[unlikely]] {
      return false;
    }
    write_small(tails_.grow(to, sizeof(link::SmallStore)), offset, data);
    return true;
  }
  // Adds to a counter of stores. False: there is none.
  bool count(std::uint64_t counter, std::uint64_t bytes);
  bool in_segment(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  // Writes what small stores and puts have, of `each` byte. False: some are outside the segment.
  bool write_each(std::span<const link::SmallStore> all, std::uint32_t each) noexcept;
  bool has_counter(std::uint64_t counter) const noexcept {
    return counter % sizeof counter == 0 && in_segment(counter, sizeof counter);
  }

 private:
  static constexpr std::uint32_t kAlone = 2;  // in flight before the next ones are coalesced

  // An access by the network itself, where it is counted.
  struct Counted : link::Completion {
    OneSided* owner = nullptr;
    link::Completion* counted = nullptr;
  };
  // An access by messages, in fragments of at most link::kMaxData. The fragments of one target are
  // answered in the order in which they were sent.
  struct ByMessages : Pending {
    bool write = false;
    std::uint64_t offset = 0;      // there, of `unasked`
    std::span<std::byte> unasked;  // what no fragment has been sent for
    std::span<std::byte> undone;
  };
  // A process that is accessed by messages.
  struct Target {
    std::uint64_t asked = 0;             // bytes that have been asked for and are not done
    std::deque<ByMessages*> unfinished;  // accesses with fragments to send, oldest first
  };
  static constexpr link::InFlight::Limits kAccesses{
      .reserved = 8, .per_peer = 2048, .shared = 4096};
  // Most bytes that are requested of one target and not done: so a target whose answers find no
  // room queues no more than that for this process.
  static constexpr std::uint64_t kAhead = 32 * link::kMaxData;
  // How much may be written ahead: it waits here, and the answers are short.
  static constexpr std::uint64_t kWrittenAhead = 4 * kAhead;

  static void ended(link::Completion& completion);
  void start_small(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                   std::uint64_t counter);
  bool start(const link::RmaAccess& access, link::Completion& completion);
  bool send_fragments(Target& target);

  // Constant after construction.
  Router& router_;
  link::Link& link_;
  Tails& tails_;
  const bool rma_;
  const Sizes sizes_;
  // Guarded by the port's lock.
  ObjectPool<Counted> counted_;
  PendingPool<ByMessages> accesses_;
  std::unordered_map<Rank, Target> targets_;
  std::vector<Target*> waiting_;  // those with unfinished accesses
};

}  // namespace am
