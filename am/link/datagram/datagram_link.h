// am/link/datagram: the network as unreliable datagrams carry it, made reliable by
// am/link/datagram/window. It uses am/link, am/sodium and rdma.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "am/link/datagram/faults.h"
#include "am/link/datagram/window/peer.h"
#include "am/link/link.h"
#include "am/types/object_pool.h"
#include "rdma/datagram.h"
#include "rdma/open_fabric.h"

namespace am::link {

// Links by datagrams: over UDP, and over InfiniBand UD and EFA as libfabric has them (FI_EP_DGRAM).
//
// When is a packet sent? As over FabricLink: at once, if none was sent to that process within the
// last few microseconds; else together with others, when the datagram is full or at the next poll.
//
// No one-sided access: the rooms above read and write by packets. The network makes progress only
// in poll() and fetch(), which retransmit lost datagrams and send acknowledgements.
//
// The key of a process is random, and given to its job alone, in its card: datagrams to it are
// sealed with that key, and what is not is dropped (docs/security.md).
class DatagramLink final : public Link {
 public:
  struct Options {
    Rank rank = 0;
    std::uint32_t size = 1;
    // Ends the job with a sentence. Does not return.
    std::function<void(const std::string& sentence)> fatal;
    // In a job that goes on without its dead: whether a process that cannot be reached has died,
    // and then all of this process hear of it. Empty: a process that cannot be reached ends the
    // job.
    std::function<bool(Rank)> has_died = {};
    // Reports a sentence to the user, and nothing else happens.
    std::function<void(const std::string& sentence)> warn = [](const std::string&) {};
    FaultPlan faults{};
    window::Options window{};  // rank and incarnation are filled in
    rdma::DatagramEndpoint::Options endpoint{};
  };

  // What another process must know to reach this one, as bytes to be exchanged.
  static constexpr std::size_t kMaxCard = 256;

  // `fabric` was opened for datagrams. Throws Error, rdma::Error: libfabric refuses; no libsodium.
  DatagramLink(std::unique_ptr<rdma::Fabric> fabric, const Options& options);
  ~DatagramLink() override;

  std::vector<std::byte> card() const;
  // Takes the card of another process. Throws Error if it is damaged, or of another kind.
  void introduce(Rank rank, std::span<const std::byte> card);

  std::byte* claim(Rank to, std::uint32_t bytes) override;
  Tail* commit(Rank to, Next next) override;
  Queue queue(Rank to, std::size_t written) override;
  bool flush() override;
  bool try_access(const RmaAccess& access, Completion& completion) override;
  bool busy() const noexcept override { return !active_.empty() || current_ != nullptr; }
  void verify() override;
  void forget(Rank dead) override;
  std::int64_t longest_sleep_ns() noexcept override;

  const window::Counters& counters() const noexcept { return counters_; }
  // The memory for datagrams, in use or not.
  std::size_t memory_bytes() const noexcept { return outgoing_.bytes() + early_.bytes(); }

 private:
  struct Card;  // how card() begins

  // The way to one process: from its card on.
  struct Route {
    Rank rank = 0;
    fi_addr_t address = FI_ADDR_UNSPEC;
    std::optional<window::Peer> peer;
    std::uint64_t sent_ticks = 0;  // when the last datagram was sent, by am::ticks()
    std::int64_t due_ns = 0;       // when it has to be served again
    bool active = false;           // in active_
    bool ready = false;            // in ready_
    bool heard = false;
    bool dead = false;  // its process
  };
  // A send in flight, until the network reports it.
  struct Send {
    rdma::Op op{rdma::Op::Kind::kSend};  // first
    Route* owner = nullptr;  // whose peer has the slot; nullptr: it is for this send alone
    window::Slot* slot = nullptr;
  };
  class Turn;

  std::string describe() const;
  bool gathers(const Route& route) const noexcept;
  // Sends what is due to be sent, and notes when the next thing will be.
  void serve(Route& route, std::int64_t now_ns);
  void serve_full(Route& route);
  bool send_all(Route& route, std::int64_t now_ns, bool full);
  void send_held_back();
  bool send(Route& route, const window::Outgoing& outgoing);
  bool send_copy(Route& route, std::span<const std::byte> bytes);
  rdma::DatagramEndpoint::Sent start(const Route& to, std::span<const std::byte> bytes,
                                     window::Slot& slot, Route* owner, bool more);
  void read(const rdma::Op& op);
  void activate(Route& route);
  // It has to be served again at that time; window::Peer::kNever: not at all.
  void schedule(Route& route, std::int64_t due_ns);
  void serve_all();
  void keep_alive(std::int64_t now_ns);

  // Datagrams that come (datagram_link_poll.cc).
  int take(PacketSink& sink, bool keeping) override;
  int poll_all(PacketSink& sink);
  bool fetch_some(PacketSink& sink);
  int deliver_all(PacketSink& sink, Turn& turn, bool keeping);
  bool deliver_current(PacketSink& sink, bool keeping, int& count);
  bool open_ready();
  void note_pause();
  bool take_event(Turn& turn);
  void receive(rdma::Op& op, std::span<const std::byte> bytes);
  void finished(const rdma::Op& op);
  void close_current();
  void note_ready(Route& route);
  void heard(Route& route);
  std::size_t room_bytes() const noexcept;
  void share_room() noexcept;
  void note_stranger();
  [[noreturn]] void lose(const Route& route) const;
  [[noreturn]] void give_up(const std::string& sentence) const;

  // Constant after construction, or after introduce().
  const Options options_;
  std::unique_ptr<rdma::Fabric> fabric_;
  window::Options window_options_;
  const std::uint64_t gather_ticks_;
  const std::uint64_t pause_ticks_;
  rdma::DatagramEndpoint endpoint_;
  const std::size_t address_bytes_;  // of every process
  const window::Seal seal_;          // of what comes to this process
  // Guarded by the port's lock.
  window::Counters counters_;
  window::Staging staging_;
  window::SlotPool outgoing_;
  window::SlotPool early_;
  window::Shared shared_;
  std::vector<std::unique_ptr<Route>> routes_;  // by rank; nullptr: not introduced
  std::vector<Route*> active_;                  // those with something that is due some time
  std::vector<Route*> ready_;                   // those with payloads that were kept, in order
  ObjectPool<Send> sends_;
  std::optional<Faults> faults_;
  window::Slot* bare_ = nullptr;  // for datagrams that are in no slot
  bool polling_ = false;
  std::array<rdma::DatagramEvent, 16> events_{};
  int next_event_ = 0;
  int events_end_ = 0;
  Route* current_ = nullptr;              // whose stream has a payload open
  rdma::Op* received_with_ = nullptr;     // ... which is in the memory of that receive,
  window::Slot* current_slot_ = nullptr;  // ... or of that slot
  std::uint64_t read_ticks_ = 0;          // when the network was read last, by am::ticks()
  unsigned most_reads_ = 1;               // of one poll
  unsigned polls_ = 0;                    // since the last check for silent peers
  std::int64_t next_keep_alive_ns_ = 0;
  std::uint32_t heard_ = 0;  // how many routes
  bool warned_ = false;
};

}  // namespace am::link
