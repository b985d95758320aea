#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "am/arrival_words.h"
#include "am/learned_stores.h"
#include "am/link/link.h"
#include "am/link/progress_thread.h"
#include "am/one_sided.h"
#include "am/transfers.h"
#include "am/types.h"
#include "shmem/doorbell.h"

namespace am {

class Bundle;
class Endpoint;
class Router;

// What a process has at the network, if its job has processes on other nodes: the link to them, and
// who gets what comes from it. All endpoints of the process share it.
//
// Thread rule: the bundle's. A job that has a port has one thread inside its bundles at a time.
class Port final : public link::PacketSink {
 public:
  // `router` outlives the port and reaches this process itself already.
  struct Options {
    bool progress_thread =
        false;          // the network goes on while nobody polls; the link is made for it
    bool learn = true;  // stores that repeat get channels of their own
  };

  Port(Router& router, std::unique_ptr<link::Link> link, const Options& options);
  ~Port() override;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  link::Link& link() noexcept { return *link_; }
  OneSided& one_sided() noexcept { return one_sided_; }
  Transfers& transfers() noexcept { return transfers_; }
  LearnedStores& learned_stores() noexcept { return learned_stores_; }
  ArrivalWords& arrival_words() noexcept { return arrival_words_; }

  // Endpoints, by their serial numbers. What has come for one that is detached is refused.
  void attach(Endpoint& endpoint, std::uint32_t serial);
  void detach(std::uint32_t serial);
  // An endpoint has gone from `bundle` to another, and what has come for it must follow.
  void left(const Bundle& bundle);

  // Handles what has come for the endpoints of `bundle`; returns how much.
  int poll(Bundle& bundle);
  // The same, but most times not at all while nothing is known to be on its way: a look at the
  // network costs much more than one at the neighbours' memory. For loops that spin.
  int glance(Bundle& bundle) {
    const bool expecting = attention_ != 0 || awaited_ != 0 || !one_sided_.idle() || link_->busy();
    if (!expecting && ++skipped_ < kSkipped) return 0;
    return poll(bundle);
  }
  // Whether poll(bundle) would pass something to an endpoint. Takes what needs no handler, and puts
  // messages for other bundles aside; nullptr: leaves the first message where it is.
  bool fetch(const Bundle* bundle);

  // Whether messages have been put aside for `bundle`. Does not look at the network.
  bool has_late(const Bundle& bundle) const noexcept { return late_.contains(&bundle); }

  // Something is to come that this process waits for: glance() looks every time.
  void await() noexcept { ++awaited_; }
  void arrived(int count = 1) noexcept { awaited_ -= count; }

  // Sends the last packet of a translation, when all that its transfers owe has been sent. Not once
  // the job's processes have met for the last time: then nobody needs it.
  void send_last(Rank to, const link::MessagePacket& packet);

  // An endpoint has ended that was promised `count` answers to kFlush, which nobody else expects.
  void leave_flushes(int count) noexcept { flushes_left_ += count; }
  // Asks `to` to say when it has received what was sent there until now: a reply that goes back,
  // for which no endpoint waits.
  void flush_returned(Rank to);
  // Whether what such endpoints sent has been handled, as far as they asked, and such replies have
  // come.
  bool has_flushed() const noexcept { return flushes_left_ == 0; }

  void tell_barrier(Rank to, int round, std::uint64_t epoch, bool more);

  // Sleeps until something comes from the network or a neighbour rings, at most `timeout_ns`
  // (from 0). The doorbell's ticket has been taken and fetch() found nothing.
  void sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept;

  // Keeps the network going until `done`, and puts messages that come aside for the next poll of
  // their bundles.
  void bring_on_until(const bool& done) noexcept;
  // Runs `blocking`, which waits for other processes outside the library, in a thread of its own,
  // and keeps the network going meanwhile: what has been sent may need this process's hand to get
  // through, and others may read and write its segment. No handler runs.
  void tend_while(const std::function<void()>& blocking);

 private:
  static constexpr int kAttention = 2000;  // looks in vain before it becomes less
  static constexpr int kSkipped = 150;     // glances: about as many times 50 ns

  struct Late {  // a message for an endpoint of a bundle that was not polling
    const link::PacketHeader& packet() const noexcept {
      return *reinterpret_cast<const link::PacketHeader*>(bytes.data());
    }
    Rank from;
    std::vector<std::byte> bytes;
  };
  using LateQueue = std::deque<Late>;

  void resume();
  void deliver(Rank from, const link::PacketHeader& packet) override;
  bool arrived(std::uint64_t word) override;
  bool keeps(const link::PacketHeader& packet) const noexcept override;
  bool deliver_learning(Rank from, const link::PacketHeader& packet);
  bool deliver_to_channels(Rank from, const link::PacketHeader& packet);
  void deliver_message(Rank from, const link::PacketHeader& packet);
  void refuse_unknown(Rank from, const link::MessagePacket& message);
  void deliver_to(Endpoint& endpoint, Rank from, const link::MessagePacket& message);
  int deliver_late(const Bundle& bundle);
  Endpoint* find(const link::PacketHeader& message) const noexcept;
  void set_round(Rank from, const link::PacketHeader& packet);
  [[noreturn]] void refuse(Rank from, const link::PacketHeader& packet) const;

  // Constant after construction.
  Router& router_;
  std::unique_ptr<link::Link> link_;
  shmem::DoorbellSocket rung_;
  // Owned by whoever is inside.
  ArrivalWords arrival_words_;
  OneSided one_sided_;
  Transfers transfers_;
  LearnedStores learned_stores_;
  std::unordered_map<std::uint32_t, Endpoint*> endpoints_;  // by serial
  Bundle* polling_ = nullptr;                               // the bundle that polls
  const Bundle* fetching_ = nullptr;                        // ... or asks what poll() would find
  std::unordered_map<const Bundle*, LateQueue> late_;       // none of them is empty
  struct Last {
    Rank to;
    link::MessagePacket packet;
  };
  std::vector<Last> lasts_;  // to be sent when what their transfers owe has been
  int flushes_left_ = 0;
  int attention_ = 0;
  int skipped_ = 0;
  int awaited_ = 0;
  std::optional<link::ProgressThread> progress_;  // ends first
};

}  // namespace am
