#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "am/link/link.h"
#include "am/types.h"

namespace am {

class Router;

// Reads and writes of other nodes' segments: by the network itself where it can (RMA), else by
// messages that the target answers with its own hand.
//
// Where the network's own access is made of messages as well, small ones that come while others are
// under way, or find no room, go by messages of ours: these travel together, many in one send.
//
// Thread rule: the bundle's.
class OneSided {
 public:
  OneSided(Router& router, link::Link& link) noexcept;

  // As link::Link's: false means that there is no room now. Memory and completion live until done.
  bool try_read(Rank from, std::uint64_t offset, std::span<std::byte> to,
                link::Completion& completion);
  // Done: visible at the target; or with `before_packets`, which needs
  // writes_before_packets(bytes), that `from` may be reused.
  bool try_write(Rank to, std::uint64_t offset, std::span<const std::byte> from,
                 bool before_packets, link::Completion& completion);
  bool writes_before_packets(std::size_t bytes) const noexcept {
    return rma_ && link_.writes_before_packets(bytes);
  }

  // Starts what could not be sent before; call it with every poll.
  void resume();
  // Nothing is under way by messages.
  bool idle() const noexcept { return free_.size() == accesses_.size(); }

  // A packet of one of the types below has come. False: it is damaged.
  bool serve_get(Rank from, const link::Access& packet);
  bool serve_put(Rank from, const link::Access& packet);
  bool take_data(const link::Access& packet);  // kGot
  bool take_done(const link::Access& packet);  // kPutDone

  // Writes `data` at `offset` of `to`'s segment without an answer, and adds the number of its bytes
  // to the word at `counter` there. At most link::kMaxData bytes.
  void store(Rank to, std::uint64_t offset, std::span<const std::byte> data, std::uint64_t counter);
  bool take_store(const link::Access& packet);
  // The packet of a store whose `bytes` are written by other means before it.
  static link::Count make_count(std::uint64_t counter, std::uint64_t bytes) noexcept;
  bool take_count(const link::Count& packet);
  // Adds to a counter of stores. False: there is none.
  bool count(std::uint64_t counter, std::uint64_t bytes);
  bool in_segment(std::uint64_t offset, std::uint64_t bytes) const noexcept;

 private:
  // An access by the network itself, where it is counted.
  struct Counted : link::Completion {
    OneSided* owner = nullptr;
    link::Completion* counted = nullptr;
  };
  // An access by messages, in pieces of at most link::kMaxData.
  struct ByMessages {
    Rank rank;
    std::uint64_t offset;
    std::byte* local;
    std::uint64_t bytes;
    bool write;
    link::Completion* completion;
    std::uint64_t asked = 0;  // bytes, in pieces that have been sent
    std::uint64_t done = 0;   // bytes
  };
  static constexpr std::size_t kMost = 4096;                    // accesses under way
  static constexpr std::uint64_t kAhead = 16 * link::kMaxData;  // bytes asked for and not done

  Counted& count(link::Completion& completion);
  bool take_counted() noexcept;
  static void counted(link::Completion& completion);
  bool start(const ByMessages& access);
  bool send_pieces(std::uint32_t number);
  bool account(const link::Access& packet, std::uint64_t bytes);

  // Constant after construction.
  Router& router_;
  link::Link& link_;
  const bool rma_;
  const bool emulated_;  // the network's own access costs a send each, too
  // Owned by the bundle's thread.
  std::uint32_t small_ = 0;  // under way by the network itself
  std::vector<std::unique_ptr<Counted>> all_counted_;
  std::vector<Counted*> free_counted_;
  std::deque<ByMessages> accesses_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> waiting_;  // those with pieces to send
};

}  // namespace am
