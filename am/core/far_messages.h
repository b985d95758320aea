#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "am/link/packet_sinks.h"
#include "am/one_sided/transfers.h"
#include "am/route/port.h"
#include "am/types/types.h"

namespace am {

class Bundle;
class Endpoint;
class Process;

// The messages that come from other nodes: which endpoint gets them, and when. A handler runs only
// while its endpoint's bundle polls; what comes before is put aside.
//
// Thread rule: the bundle's.
class FarMessages final : public link::TypeSink, public Resumed {
 public:
  // All outlive it.
  FarMessages(const Process& process, Port& port, Transfers& transfers);

  Port& port() noexcept { return port_; }
  Transfers& transfers() noexcept { return transfers_; }

  // Endpoints, by their serial numbers. What has come for one that is detached is refused.
  void attach(Endpoint& endpoint, std::uint32_t serial);
  void detach(std::uint32_t serial);
  // An endpoint has gone from `bundle` to another, and what has come for it must follow.
  void left(const Bundle& bundle);

  // Handles what has come for the endpoints of `bundle`; returns how much.
  int poll(Bundle& bundle);
  // The same for loops that spin, see Port::worth_a_look().
  int glance(Bundle& bundle) { return port_.worth_a_look() ? poll(bundle) : 0; }
  // Whether poll(bundle) would pass something to an endpoint. Takes what needs no handler, and puts
  // messages for other bundles aside.
  bool fetch(const Bundle& bundle);
  // Whether messages have been put aside for `bundle`. Does not poll the network.
  bool has_late(const Bundle& bundle) const noexcept { return late_.contains(&bundle); }

  // Sends the last packet of a translation, after the packets of all transfers to that process.
  // Sends nothing after the last barrier of the job (Process::has_left()): nobody needs it then.
  void send_last(Rank to, const link::MessagePacket& packet);

  // An endpoint has ended to which `count` answers to kFlush are still to come: from now on they
  // are counted here.
  void leave_flushes(int count) noexcept { flushes_left_ += count; }
  // Asks `to` to confirm that it has received what was sent there until now: a returned reply, for
  // which no endpoint waits.
  void flush_returned(Rank to);
  // Whether all answers that these two calls count have come.
  bool has_flushed() const noexcept { return flushes_left_ == 0; }

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
  struct Last {
    Rank to;
    link::MessagePacket packet;
  };

  void refuse_unknown(Rank from, const link::MessagePacket& message);
  bool deliver_to(Endpoint& endpoint, Rank from, const link::MessagePacket& message);
  int deliver_late(const Bundle& bundle);
  Endpoint* find(const link::PacketHeader& message) const noexcept;

  // Constant after construction.
  const Process& process_;
  Port& port_;
  Transfers& transfers_;
  // Owned by whoever is inside.
  std::unordered_map<std::uint32_t, Endpoint*> endpoints_;  // by serial
  Bundle* polling_ = nullptr;                               // the bundle that polls
  const Bundle* fetching_ = nullptr;                        // ... or asks what poll() would find
  std::unordered_map<const Bundle*, LateQueue> late_;       // none of them is empty
  std::vector<Last> lasts_;  // to be sent when what their transfers owe has been
  int flushes_left_ = 0;
};

}  // namespace am
