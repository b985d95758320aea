#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "am/link/fabric/frames.h"
#include "am/link/fabric/incoming.h"
#include "am/link/in_flight.h"
#include "am/link/link.h"
#include "am/table/node_rows.h"
#include "am/table/sparse_table.h"
#include "am/types/object_pool.h"
#include "rdma/endpoint.h"
#include "rdma/memory.h"
#include "rdma/open_fabric.h"
#include "rdma/registration_cache.h"
#include "rdma/unmap_monitor.h"

namespace am::link {

// The connection to one process. Made at its first use.
struct Route {
  Rank rank = 0;
  RemoteKey segment;        // of that process
  std::uint64_t token = 0;  // its frames begin with it
  fi_addr_t address = FI_ADDR_UNSPEC;
  Frame* open = nullptr;         // takes the next packet
  Tail tail;                     // its last packet
  FrameQueue waiting;            // full, or refused by the provider; older than `open`
  std::uint64_t sent_ticks = 0;  // when the last frame was sent, by am::ticks()
  bool streams = false;          // that one held several packets
  bool listed = false;           // in FabricLink::unsent_
  InFlight::Share frames;        // sent and not reported complete
  InFlight::Share accesses;      // likewise
  std::uint32_t unsignaled = 0;  // frames injected since the last one that is reported
  std::uint32_t sent = 0;        // frames, in all
  RoomThere room;                // for frames that are written
  bool dead = false;             // its process: nothing is sent any more, and nothing counted
};

// The key by which the network knows that byte of the process.
inline RemoteKey named(const Route& route, const RemoteKey& at) noexcept {
  return at.key == RemoteKey::kSegment ? route.segment + at.base : at;
}

// The network as libfabric gives it: reliable-datagram endpoints (FI_EP_RDM).
//
// When is a packet sent? At once, if none was sent to that process within the last few
// microseconds: that is how long it takes to send a frame, so a process that sends more often gains
// by coalescing several packets into a frame. Otherwise by the next poll, or when the frame is
// full, or with the next packet after that time; after four times that time where packets come in
// a stream. In poll() all replies to one process are sent together, at its end.
class FabricLink final : public Link, private Registrar {
 public:
  struct Options {
    Rank rank = 0;
    std::uint32_t size = 1;
    std::uint32_t peers = 0;  // processes of other nodes
    std::span<std::byte> segment;
    bool use_rma = true;           // where the network has it
    bool progress_thread = false;  // a thread makes progress while the process does not poll
    bool sleeps = false;           // waits will sleep, rather than spin until their answer comes
    // What the network reads and writes at a time, if the provider can do so much, so that others
    // see a long access advance (SendStats::pieces), even if it takes minutes. A tenth of a second
    // of a slow network, and a thousand times what it takes to begin the next piece.
    std::size_t longest_access = 8 << 20;
    // Ends the job with a sentence. Does not return.
    std::function<void(const std::string& sentence)> fatal;
    // In a job that goes on without its dead: whether a process that cannot be reached has died,
    // and then all of this process hear of it. Empty: a process that cannot be reached ends the
    // job.
    std::function<bool(Rank)> has_died = {};
    // Reports a sentence to the user, and nothing else happens.
    std::function<void(const std::string& sentence)> warn = [](const std::string&) {};
    // How long a frame may be missing while later ones have arrived.
    std::int64_t longest_gap_ns = 5'000'000'000;
  };

  // What another process must know to reach this one, as bytes to be exchanged.
  static constexpr std::size_t kMaxCard = 256;
  // How much may be in flight. The reserve of each peer is for replies and for those that send
  // little: what others have in flight, to a peer that does not poll, cannot delay them.
  static constexpr InFlight::Limits kFrames{.reserved = 4, .per_peer = 64, .shared = 256};
  // Frames injected in a row: the provider queues copies of them, and reports none.
  static constexpr std::uint32_t kMaxUnsignaled = 64;
  static constexpr InFlight::Limits kAccesses{.reserved = 8, .per_peer = 512, .shared = 1024};

  FabricLink(std::unique_ptr<rdma::Fabric> fabric, const Options& options);
  ~FabricLink() override;

  std::vector<std::byte> card() const;
  // By one process of a node that has several: where all of them may keep what they know of the
  // others; to be exchanged with the cards.
  shmem::Region::Address offer() { return known_.offer(); }
  // Takes the card of another process. Throws Error if it is damaged.
  void introduce(Rank rank, std::span<const std::byte> card);
  // All have been introduced. `offer` is that of this node's process, or zeros.
  void settle(const shmem::Region::Address& offer) { known_.settle(offer); }

  std::byte* claim(Rank to, std::uint32_t bytes) override;
  Tail* commit(Rank to, Next next) override;
  Queue queue(Rank to, std::size_t written) override;
  bool flush() override;
  bool try_access(const RmaAccess& access, Completion& completion) override;
  bool busy() const noexcept override;
  std::int64_t longest_sleep_ns() noexcept override;
  void verify() override;
  void forget(Rank dead) override;

 private:
  struct Card;  // how card() begins
  // What a process must know of another one to talk to it. In known_ the address follows.
  struct Known {
    std::uint64_t token;
    RemoteKey segment;
  };
  Known known(Rank rank) const noexcept;
  std::vector<std::byte> address(Rank rank) const;

  // Receives that are posted beside those that the job needs, while strangers may hold some of
  // them.
  static constexpr std::size_t kMoreReceives = 64;  // at a time
  static constexpr std::size_t kExtraBytes = std::size_t{64} << 20;
  std::size_t most_receives() const;

  Route& route(Rank rank) {
    Route* const made = routes_[rank];
    return made != nullptr ? *made : make_route(rank);
  }
  Route& make_route(Rank rank);
  Route& add_route(Rank rank);
  Abilities abilities();
  bool gathers(const Route& route) const noexcept;
  bool is_stream(const Route& route) const noexcept;
  void start(Route& route);
  void start_here(Route& route);
  bool try_start(Frame& frame);
  bool may_inject(const Route& route, std::size_t bytes) const noexcept;
  void restart(Route& route);
  void drop(Route& route);
  void list(Route& route);
  void grow(Route& route) noexcept;

  // Completions (poll.cc).
  int take(PacketSink& sink, bool keeping) override;
  int poll_all(PacketSink& sink);
  bool fetch_some(PacketSink& sink);
  bool read_events();
  bool more_events() const noexcept { return events_end_ == static_cast<int>(events_.size()); }
  void settle_sends(PacketSink& sink);
  void begin_frame(const fi_cq_data_entry& event);
  void open(std::span<const std::byte> frame);
  bool open_early();
  void look_at_gap();
  void add_receives();
  bool deliver_own(const PacketHeader& packet);
  void end_frame();
  int deliver_all(PacketSink& sink, TurnClock& turn, bool keeping);
  int deliver_frame(PacketSink& sink, bool keeping);
  void failed(const rdma::Failure& failure);
  void settle(const rdma::Op& op);
  void receive_failed(const rdma::Failure& failure);
  void note_stranger();
  // An operation towards `rank` could not be started.
  void not_started(Rank rank, const rdma::Error& error);
  void lose(Rank rank, const std::string& why);
  bool has_died(Rank rank) const { return options_.has_died && options_.has_died(rank); }
  void look_at_lost();
  [[noreturn]] void give_up(const std::string& sentence) const;

  // Frames that are written (written.cc).
  bool has_room(Rank to, std::size_t bytes);
  bool try_write_with_packet(const RmaAccess& access, Completion& completion);
  bool begin_written(std::uint64_t word);
  void end_written();
  void ask_room(Route& route);
  bool give_room();
  bool take_room(const PacketHeader& packet);
  bool take_room_read(const PacketHeader& packet);
  Frame* claim_written(Route& route, std::span<const std::byte> packet);

  // One-sided access (access.cc).
  struct Access {
    static Access& of(const rdma::Op& op) noexcept {
      return reinterpret_cast<Access&>(const_cast<rdma::Op&>(op));  // its first member
    }

    rdma::Op op{rdma::Op::Kind::kAccess};
    Completion* completion = nullptr;                 // nullptr: not waited for
    std::optional<rdma::RegistrationCache::Use> use;  // of local memory outside the segment
    void* descriptor = nullptr;                       // of local memory
    std::span<const std::byte> piece;                 // of it, that the network works on
    Frame* frame = nullptr;                           // written with it
    // What follows when the operation is complete: no bytes, unless all together is too long for
    // one.
    RmaAccess rest{};
  };
  template <class Start>
  bool start_access(Rank rank, Completion& completion, Start start);
  bool try_next_piece(Access& access);
  bool try_inject(Route& route, const RmaAccess& access, Completion& completion);
  void go_on(Access& access);
  void go_on_with_unfinished();
  void end_accesses_of_dead();
  void end(Access& access);
  Access* take_access(Rank rank, Completion& completion);
  void give_back(Access& access);
  void complete(const rdma::Op& op);
  Rank rank_of(const rdma::Op& op) const;

  // Memory outside the segment (access.cc).
  class Registered;
  std::unique_ptr<Registration> register_memory(std::span<std::byte> range) override;
  RegistrationStats registration_stats() const override;
  void* local_descriptor(Access& access, std::span<const std::byte> local, bool written);
  bool in_segment(std::span<const std::byte> range) const noexcept;
  rdma::RegistrationCache& registrations();

  // Constant after construction, or after introduce().
  const Options options_;
  std::unique_ptr<rdma::Fabric> fabric_;
  const std::uint64_t token_;
  const std::size_t frame_bytes_;
  std::size_t address_bytes_ = 0;     // of every process
  NodeRows known_;                    // by rank: a Known, and the address
  const std::size_t longest_access_;  // in one operation
  const std::uint64_t gather_ticks_;
  // Guarded by the port's lock.
  SparseTable<Route*> routes_;    // by rank; nullptr: it was never talked to
  std::deque<Route> all_routes_;  // that routes_ points to
  std::vector<Route*> unsent_;    // those with something to send
  Incoming incoming_;
  std::uint32_t claimed_ = 0;  // bytes since the last commit
  bool polling_ = false;
  std::array<fi_cq_data_entry, 32> events_{};
  int event_ = 0;  // the next to handle
  int events_end_ = 0;
  bool in_frame_ = false;                       // a frame is open, and not all of it delivered
  const rdma::Op* received_with_ = nullptr;     // its receive; nullptr: posted again already
  WrittenFrames::Given* written_to_ = nullptr;  // or the room where it has been written
  InFlight frames_in_flight_{kFrames};
  InFlight accesses_in_flight_{kAccesses};
  int progress_ = 0;  // completions since the last poll
  struct Lost {
    Rank rank;
    std::int64_t since_ns;
    std::string sentence;
  };
  std::vector<Lost> lost_;         // processes that could not be reached, the first one first
  std::uint64_t arrived_ = 0;      // frames of the job, in all
  std::uint64_t verified_at_ = 0;  // arrived_ at the last verify()
  bool warned_ = false;            // of strangers
  bool suspicious_ = false;        // a message broke off: of a stranger, or of the job?
  bool buries_ = false;            // accesses to the dead are to be ended
  std::uint32_t pongs_awaited_ = 0;
  std::int64_t verified_ns_ = 0;  // when verify() was called last
  // From the first memory on that is registered.
  std::optional<rdma::UserfaultMonitor> monitor_;
  std::string no_monitor_;  // why there is none
  std::optional<rdma::RegistrationCache> registrations_;
  ObjectPool<Access> accesses_;
  std::vector<Access*> unfinished_;  // those whose next piece has found no room
  // In the order in which they are made; closed the other way round.
  rdma::Endpoint endpoint_;
  std::optional<rdma::Memory> segment_;
  FramePool frames_;
  std::optional<rdma::Receives> receives_;
  std::optional<WrittenFrames> written_;  // where the network can
};

}  // namespace am::link
