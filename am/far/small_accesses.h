#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "am/far/one_sided.h"
#include "am/far/packets.h"
#include "am/link/link.h"
#include "am/types/types.h"

namespace am {

class Router;

// Gets and puts of 1 to 8 bytes each, where an access by the network costs as much as a message:
// those that come in a row for one process, before its packet has left, share that packet, and are
// answered together. One alone
// goes by RMA, if there is any, which needs no poll of the other program.
//
// A row is one operation to its user: it has one completion, that of its first access.
//
// Thread rule: its callers are inside the port (am/route/port.h).
class SmallAccesses {
 public:
  static constexpr std::size_t kMost = sizeof(link::SmallStore::data);  // bytes of each

  SmallAccesses(Router& router, link::Link& link, OneSided& one_sided, Tails& tails);

  bool takes(const link::RmaAccess& access) const noexcept {
    return applies_ && access.local.size() <= kMost && access.at.key == link::RemoteKey::kSegment;
  }

  // Joins a row of that `home` that is in flight: returns its completion, which is called when all
  // of it is done; nullptr: there is none. What a get writes to lives until then.
  link::Completion* try_join(const link::RmaAccess& access, const link::Home* home);
  // One that others may join. False: no room now. What a put reads lives until done, too.
  bool try_access(const link::RmaAccess& access, link::Completion& completion);

  // Those that wait for an answer of the dead, as OneSided does.
  void end_rows_of_dead();
  bool idle() const noexcept { return rows_.idle(); }

  // A packet of one of these types has come. False: it is damaged, or answers nothing.
  bool serve_puts(Rank from, const link::Row& packet);
  bool serve_gets(Rank from, const link::Row& packet);
  bool take_answer(Rank from, const link::Row& packet);  // kPutsDone, kGotWords

 private:
  // One packet's.
  struct Row : Pending {
    std::uint32_t bytes = 0;     // of each
    std::vector<std::byte*> to;  // of gets
  };
  static constexpr link::InFlight::Limits kRows{.reserved = 8, .per_peer = 32, .shared = 1024};

  // Constant after construction.
  Router& router_;
  link::Link& link_;
  OneSided& one_sided_;
  Tails& tails_;
  const bool applies_;
  // Guarded by the port's lock.
  PendingPool<Row> rows_;
};

}  // namespace am
