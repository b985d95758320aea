#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

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

  // Endpoints, by their serial numbers.
  void attach(Endpoint& endpoint, std::uint32_t serial);
  void detach(std::uint32_t serial) noexcept;

  // Handles what has come for the endpoints of `bundle`; returns how much.
  int poll(Bundle& bundle);
  // The same, but most times not at all while nothing is known to be on its way: a look at the
  // network costs much more than one at the neighbours' memory. For loops that spin.
  int glance(Bundle& bundle) {
    const bool expecting = attention_ != 0 || awaited_ != 0 || !one_sided_.idle() || link_->busy();
    if (!expecting && ++skipped_ < kSkipped) return 0;
    return poll(bundle);
  }
  // Whether poll() would hand something to an endpoint.
  bool fetch();

  // Something is to come that this process waits for: glance() looks every time.
  void await() noexcept { ++awaited_; }
  void arrived() noexcept { --awaited_; }

  void tell_barrier(Rank to, int round, std::uint64_t epoch);

  // Sleeps until something comes from the network or a neighbour rings, at most `timeout_ns`
  // (negative: no limit). The doorbell's ticket has been taken and fetch() found nothing.
  void sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept;

  // Runs `blocking`, which waits for other processes outside the library, in a thread of its own,
  // and keeps the network going meanwhile: what has been sent may need this process's hand to get
  // through, and others may read and write its segment. No handler runs.
  void tend_while(const std::function<void()>& blocking);

 private:
  static constexpr int kAttention = 2000;  // looks in vain before it becomes less
  static constexpr int kSkipped = 150;     // glances: about as many times 50 ns

  struct Late {  // a packet for an endpoint of another bundle
    Rank from;
    std::vector<std::byte> bytes;
  };

  void resume();
  void deliver(Rank from, const link::PacketHeader& packet) override;
  void arrived(std::uint32_t arrival) override;
  bool keeps(const link::PacketHeader& packet) const noexcept override;
  bool deliver_learning(Rank from, const link::PacketHeader& packet);
  bool deliver_to_channels(Rank from, const link::PacketHeader& packet);
  void deliver_message(Rank from, const link::PacketHeader& packet);
  void deliver_late();
  void set_round(Rank from, const link::PacketHeader& packet);
  [[noreturn]] void refuse(Rank from, const link::PacketHeader& packet) const;

  // Constant after construction.
  Router& router_;
  std::unique_ptr<link::Link> link_;
  shmem::DoorbellSocket rung_;
  // Owned by whoever is inside.
  OneSided one_sided_;
  Transfers transfers_;
  LearnedStores learned_stores_;
  std::unordered_map<std::uint32_t, Endpoint*> endpoints_;  // by serial
  Bundle* polling_ = nullptr;                               // the bundle that polls
  std::vector<Late> late_;
  int attention_ = 0;
  int skipped_ = 0;
  int awaited_ = 0;
  std::optional<link::ProgressThread> progress_;  // ends first
};

}  // namespace am
