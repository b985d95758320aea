#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "am/core/endpoint.h"
#include "am/core/poller.h"
#include "am/link/link.h"
#include "am/route/port.h"
#include "am/types/object_pool.h"
#include "am/zero_copy/buffers.h"
#include "am/zero_copy/grants.h"
#include "am/zero_copy/near.h"
#include "am/zero_copy/requests.h"
#include "am/zero_copy/slots.h"
#include "am/zero_copy/wire.h"
#include "am/zero_copy/zero_copy.h"

namespace am::zero_copy {

// What moves the bytes, and notifies both ends.
//
// To a process of this node the initiator copies by itself where it can: memory that it maps, or
// through the kernel; then it notifies the owner (kMoved). Everything else begins with a message.
// What fits into one goes along, or comes back with its answer. For more the initiator asks (kGet,
// kPut), and the owner, which knows whether that buffer still exists, moves the bytes by the
// network or in fragments. With its kDone it may hand out a key, and the next transfer is the
// initiator's own write or read.
//
// Memory and its keys are Buffers' part, requests Requests', callbacks that of Slots; here are the
// transfers themselves. Handlers only note what has come; poll() acts.
class Engine final : public Poller {
 public:
  // What an engine needs of its job.
  struct Setup {
    std::size_t pool_bytes = 0;
    // Maps the endpoints that all processes pass here, each at the index that is its rank.
    std::function<void(Endpoint&)> connect;
    // Gives everybody's, by rank.
    std::function<std::vector<Neighbours::Card>(const Neighbours::Card&)> exchange;
  };

  Engine(Bundle& bundle, const Setup& setup);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int poll() override;
  bool has_work() noexcept override;

  Bundle& bundle() noexcept { return bundle_; }
  Slots& slots() noexcept { return slots_; }
  const ZeroCopyStats& stats() const noexcept { return stats_; }
  bool idle() const noexcept;

  Buffers& buffers() noexcept { return buffers_; }
  Requests& requests() noexcept { return requests_; }

  // Starts a put or get between a buffer of this process and that of `remote`.
  void start(bool put, std::uint32_t slot, const ZeroCopyInfo& remote, Call call);
  // Starts a put or get of any end, which has been checked.
  void transfer(bool put, const End& end, const ZeroCopyInfo& remote, std::size_t bytes, Call call);
  // Announces a request to `to`, whose payload is `end`.
  void announce(Rank to, const End& end, const Announcement& announcement);
  // Control messages to one process are sent in the order of the calls.
  void send(Rank to, const Control& control);
  void send_later(Rank to, const Control& control) { controls_.push({to, control}); }
  // Ends the job: `from` has sent what no process sends.
  [[noreturn]] void refuse_message(Rank from, const std::string& what) const;

  // --- Handlers of what other engines send (moves.cc)
  static void on_control(OneWay message, Control control);
  static void on_moved(OneWay message, Moved moved);
  static void on_fetch(Request request, Fetch fetch);
  static void on_fetched(Reply reply, std::span<const std::byte> bytes, std::uint32_t op);
  static void on_piece(OneWay message, std::span<const std::byte> bytes, Piece piece);
  static void on_whole(OneWay message, std::span<const std::byte> bytes, Whole whole);
  static void on_announcement(OneWay message, std::span<const std::byte> bytes,
                              Announcement announcement);

 private:
  // The endpoint for the messages above, through which handlers find the engine.
  struct Wire : Endpoint {
    Wire(Bundle& bundle, Engine& engine) : Endpoint(bundle), engine(engine) {}
    Engine& engine;
  };
  // One end's part of a transfer that has not ended at once.
  struct Operation : link::Completion {
    enum class Step : std::uint8_t {
      kAwait,     // what comes
      kWhole,     // send everything in one message
      kFetch,     // have it sent in one
      kPieces,    // send pieces
      kAnnounce,  // send a request
      kAccess,    // read or write by the network
      kAccessed,  // await its end
    };

    Engine* engine = nullptr;
    std::uint32_t id = 0;
    bool busy = false;
    Step step = Step::kAwait;
    bool put = false;                   // what the initiator calls it
    bool initiated = false;             // here
    bool alone = false;                 // an access by a key that was handed out
    bool notified = false;              // the other end has been notified of an access
    std::optional<Expectation> answer;  // from the network
    Rank peer = 0;
    End end;  // this process's
    std::size_t bytes = 0;
    std::size_t moved = 0;
    ZeroCopyInfo remote;  // of an initiator
    std::uint32_t remote_op = kNone;
    link::RemoteKey key{};                             // of the other end's memory
    std::shared_ptr<link::Registration> registration;  // keeps what the other end has a key of
    Announcement announcement{};
  };
  struct Arrived {
    Rank from;
    Control control;
  };

  // Operations (engine.cc).
  Operation& take(Rank peer, const End& end, std::size_t bytes);
  // Whose part a message is that names an operation of this process.
  enum class Part : std::uint8_t { kGetter, kPutter, kInitiator, kReceiver };
  Operation& operation(std::uint32_t id, Rank from, Part part);
  void give_back(Operation& operation) noexcept;
  void through(Operation& operation);

  // Sending (engine.cc).
  bool try_send(Rank to, const Control& control);
  int flush();
  void flush_controls();
  void came_back(const Returned& message);
  void advance_or_wait(Operation& operation);
  bool advance(Operation& operation);

  // What an initiator does (start.cc).
  void check(bool put, const Slot& slot, const ZeroCopyInfo& remote, Call call) const;
  void within(bool put, const End& end, const ZeroCopyInfo& remote, std::size_t bytes, Call call);
  bool copy_near(bool put, const End& end, const ZeroCopyInfo& remote, std::size_t bytes,
                 Call call);
  bool cross(bool put, const End& end, const ZeroCopyInfo& remote, std::size_t bytes, Call call);
  void ask(Operation& operation);
  void take_done(Rank from, const Control& control);
  void send_pieces(Rank from, const Control& control);
  void refused(Rank from, const Control& control);
  [[noreturn]] void refuse_stale(Call call, const ZeroCopyInfo& remote) const;

  // What an owner does.
  void handle(Rank from, const Control& control);
  Slot* find(Rank from, const Control& control);
  void serve(Rank from, const Control& control);
  bool serve_mapped(Rank from, const Control& control, const End& end);
  void send_through(Operation& operation);
  void moved(Rank from, const Control& control);

  // By the network (moves.cc).
  bool try_access(Operation& operation);
  static void accessed(link::Completion& completion);
  bool use_grant(Operation& operation);
  void unuse_grant(const Operation& operation);
  void revoked_here(Rank from, const Control& control);

  // By messages (moves.cc).
  bool try_whole(const End& end, const ZeroCopyInfo& remote, std::size_t bytes);
  bool try_fetch(Operation& operation);
  bool try_pieces(Operation& operation);
  bool try_announce(Operation& operation);

  // Constant after construction.
  Bundle& bundle_;
  const Router& router_;
  const Rank me_;
  link::Home* const home_;  // of this bundle's accesses to other nodes; nullptr: there are none
  // Owned by the bundle's thread.
  Neighbours neighbours_;
  Slots slots_;
  Buffers buffers_;
  Requests requests_;
  Wire wire_;
  ZeroCopyStats stats_;
  std::queue<Arrived> arrived_;
  ObjectPool<Operation> operations_;                // by the lower bits of their id
  std::map<Rank, std::queue<Operation*>> waiting_;  // to advance, by peer; none is empty
  std::queue<Arrived> controls_;                    // outgoing; Arrived::from is the destination
  std::uint64_t sent_ = 0;                          // messages, pieces and accesses
  Grants grants_;                                   // keys of others
};

}  // namespace am::zero_copy
