#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/far/arrival_words.h"
#include "am/far/learned_stores.h"
#include "am/far/one_sided.h"
#include "am/far/packets.h"
#include "am/far/small_accesses.h"
#include "am/far/transfers.h"
#include "am/link/link.h"
#include "am/route/port.h"
#include "am/route/router.h"

namespace am {

// One-sided access to and from the processes of other nodes: the operations in flight, and the
// packets that carry them on.
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
  LearnedStores& learned_stores() noexcept { return learned_stores_; }

  // OneSided::try_access(), or that of SmallAccesses.
  bool try_access(const link::RmaAccess& access, link::Completion& completion) {
    return small_accesses_.takes(access) ? small_accesses_.try_access(access, completion)
                                         : one_sided_.try_access(access, completion);
  }
  // Whether a store of so many bytes is better written now, than carried in packets.
  bool writes_store(Rank to, std::size_t bytes) {
    return bytes > one_sided_.sizes().store ||
           (bytes > link::kMaxData && transfers_.goes_together(to, bytes));
  }
  // Such a store, as OneSided's. False: no room now. Done: `data` may be reused, perhaps before
  // return.
  bool try_store_much(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                      std::uint64_t counter, link::Completion& completion);

  // (An answer of the dead may be that to an access which has ended.)
  bool take(Rank from, const link::PacketHeader& packet) override {
    return take_packet(from, packet) || router_.is_dead(from);
  }
  void resume() override;
  bool idle() const noexcept override { return one_sided_.idle() && small_accesses_.idle(); }

 private:
  bool take_packet(Rank from, const link::PacketHeader& packet);

  Router& router_;
  link::Link& link_;
  Tails tails_;
  OneSided one_sided_;
  SmallAccesses small_accesses_;
  Transfers transfers_;
  ArrivalWords arrival_words_;
  LearnedStores learned_stores_;
};

}  // namespace am
