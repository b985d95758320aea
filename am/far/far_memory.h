// am/far: reads, writes and stores of other nodes' memory, and writes that are followed by a
// notice, of which long messages, large stores and puts on channels are made. It uses am/route,
// am/link, am/table and am/types. Nothing here waits or runs handlers: "no room now" is false, and
// what is in flight goes on with every poll of the port. RemoteMemory (am/core/far/remote_memory.h)
// waits for programs.
#pragma once

#include "am/far/arrival_words.h"
#include "am/far/one_sided.h"
#include "am/far/small_accesses.h"
#include "am/far/tails.h"
#include "am/far/transfers.h"
#include "am/link/packet_sinks.h"
#include "am/route/port.h"
#include "am/route/router.h"

namespace am {

// One-sided access to and from the processes of other nodes: the operations in flight, and the
// packets that carry them on. Nothing here waits.
//
// Thread rule: its callers are inside the port (am/route/port.h).
class FarMemory final : public link::TypeSink, public Resumed {
 public:
  // Both outlive it.
  FarMemory(Router& router, Port& port);

  OneSided& one_sided() noexcept { return one_sided_; }
  SmallAccesses& small_accesses() noexcept { return small_accesses_; }
  Transfers& transfers() noexcept { return transfers_; }
  ArrivalWords& arrival_words() noexcept { return arrival_words_; }

  // (An answer of the dead may be that to an access which has ended.)
  bool take(Rank from, const link::PacketHeader& packet) override {
    return take_packet(from, packet) || router_.is_dead(from);
  }
  void resume() override;
  bool idle() const noexcept override { return one_sided_.idle() && small_accesses_.idle(); }

 private:
  bool take_packet(Rank from, const link::PacketHeader& packet);
  bool take_access(Rank from, const link::Access& packet);
  bool take_row(Rank from, const link::Row& packet);

  Router& router_;
  Tails tails_;
  OneSided one_sided_;
  SmallAccesses small_accesses_;
  Transfers transfers_;
  ArrivalWords arrival_words_;
};

}  // namespace am
