#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "am/far/transfers.h"
#include "am/link/link.h"
#include "am/route/port.h"
#include "am/types/types.h"

namespace am {

class Bundle;
class EndpointParts;
class Process;

// The messages that come from other nodes: which endpoint gets them, and when. A handler runs only
// while its endpoint's bundle polls; what comes before is put aside.
//
// Among threads. While one thread does all far calls of the process, most messages are handled
// where they have been received. As soon as a second thread makes a far call, the thread that polls
// the network only queues messages, inside the port: each bundle takes its own from there, in its
// own thread, and handles them outside. Completions are treated alike (home()). The senders'
// credits bound the queues. Every thread of a parallel bundle takes what is queued for the bundle,
// but messages of one sender one after another (FarEndpoint::begin_turn()).
//
// Thread rule: the bundle's, of calls that take one; the others say theirs.
class FarMessages final : public link::TypeSink, public Resumed {
 public:
  // All outlive it.
  FarMessages(const Process& process, Port& port, Transfers& transfers);
  ~FarMessages();

  Port& port() noexcept { return port_; }
  Transfers& transfers() noexcept { return transfers_; }

  // Endpoints, by their serial numbers. What has come for one that is detached is refused.
  void attach(EndpointParts& endpoint);
  void detach(std::uint32_t serial);
  // That endpoint has gone from `before` to another bundle, and what has come for it must follow.
  void moved(const EndpointParts& endpoint, const Bundle& before);

  // Runs the callbacks of operations that `bundle` has started, in its thread and inside its poll()
  // or its last check before a sleep. Lives until leave(bundle).
  link::Home& home(const Bundle& bundle);
  // The bundle ends.
  void leave(const Bundle& bundle) noexcept;

  // The calls of a poll are for both kinds of bundle (`Access`, am/core/endpoint_threads.h). A
  // parallel one is locked by the calling thread; others come in while the network is polled and
  // while handlers run. Messages of a sender whose last one another thread is handling are skipped;
  // that thread wakes threads that sleep meanwhile.

  // Handles what has come for the endpoints of `bundle`; returns how much. In a loop that is
  // `spinning` the network is polled only if Port::worth_a_look().
  template <class Access>
  int poll(Bundle& bundle, bool spinning);
  // Whether poll(bundle) would pass something to an endpoint. Takes what needs no handler, and puts
  // messages for other bundles aside.
  template <class Access>
  bool fetch(Bundle& bundle);
  // Whether anything has been put aside for `bundle`. Does not poll the network.
  template <class Access>
  bool has_late(Bundle& bundle) const noexcept;

  // Guarded by the port's lock. Whether requests are followed by others to the same process at
  // once, so that they share a frame: each waits for the next, or for a poll; and whether the
  // program writes into a frame of the link, which it does with one at a time.
  bool more_to_come = false;
  bool lends_frame = false;

  // Sends the last packet of a translation, after the packets of all transfers to that process.
  // Sends nothing after the last barrier of the job (Process::has_left()): it is not needed then.
  void send_last(Rank to, const link::MessagePacket& packet);

  // An endpoint has ended to which `count` answers of `from` to kFlush are still to come: from now
  // on they are counted here.
  void leave_flushes(Rank from, int count) noexcept;
  // Asks `to` to confirm that it has received what was sent there until now: a returned reply, for
  // which no endpoint waits.
  void flush_returned(Rank to);
  // Whether all answers that these two calls count have come, but for those of the dead.
  bool has_flushed() const noexcept;

  bool take(Rank from, const link::PacketHeader& packet) override;
  bool keeps(const link::PacketHeader& packet) const noexcept override;
  void resume() override;
  bool idle() const noexcept override { return true; }

 private:
  struct Late {  // a message for an endpoint of a bundle that was not polling
    const link::PacketHeader& packet() const noexcept {
      return *reinterpret_cast<const link::PacketHeader*>(bytes.data());
    }
    Rank from;
    std::vector<std::byte> bytes;
  };
  using LateQueue = std::deque<Late>;
  struct Taken {
    Late late;
    EndpointParts* endpoint;
  };
  // Which endpoint has a serial number, and which bundle that is in.
  struct Addressee {
    EndpointParts* endpoint;
    const Bundle* bundle;
  };
  class Finished;
  // Inside the port.
  Finished* find_home(const Bundle& bundle) const noexcept;
  struct Last {
    Rank to;
    link::MessagePacket packet;
  };

  bool is_dead(Rank rank) const noexcept;
  // Those that may run a handler, which is for poll() to do.
  static bool is_for_poll(const link::PacketHeader& packet) noexcept;
  void refuse_unknown(Rank from, const link::MessagePacket& message);
  // Among threads, not inside. `polling` is its bundle, while that polls.
  bool deliver_to(EndpointParts& endpoint, Bundle* polling, Rank from,
                  const link::MessagePacket& message);
  void put_aside(const Bundle& bundle, Rank from, const link::PacketHeader& packet);
  template <class Access>
  int deliver_late(Bundle& bundle);
  template <class Access>
  void deliver_late(Bundle* polling, const Taken& taken);
  std::size_t late_of(const Bundle& bundle) const;
  template <class Access>
  std::optional<Taken> take_late(Bundle& bundle, bool without_handler);
  int complete(const Bundle& bundle);
  bool may_be_taken(Bundle& bundle, const Late& late) const noexcept;
  Addressee find(const link::PacketHeader& message) const noexcept;

  // Constant after construction.
  const Process& process_;
  Port& port_;
  Transfers& transfers_;
  // Guarded by the port's lock.
  std::unordered_map<std::uint32_t, Addressee> endpoints_;  // by serial
  Bundle* polling_ = nullptr;                               // the bundle that polls, if alone
  const Bundle* fetching_ = nullptr;                        // ... or asks what poll() would find
  std::unordered_map<const Bundle*, LateQueue> late_;       // none of them is empty
  std::vector<std::unique_ptr<Finished>> homes_;            // of the bundles that asked
  std::vector<Last> lasts_;                     // to be sent when what their transfers owe has been
  std::unordered_map<Rank, int> flushes_left_;  // answers to kFlush to come; none are 0
};

// FarMessages::home() of that bundle; nullptr: there are no other nodes.
link::Home* home_of(const Bundle& bundle);

}  // namespace am
