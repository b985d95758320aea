#include "am/observe/observers.h"

#include "am/observe/call_sites.h"
#include "am/observe/trace.h"
#include "am/types/clock.h"

namespace am {

void note_operation(const Call& call, Rank peer, std::uint64_t bytes, Distance distance) {
  CallSites* const sites = active_call_sites();
  if (sites != nullptr && distance == Distance::kFar) sites->count(call, peer, bytes);
  if (sites != nullptr && distance == Distance::kNear) sites->count_near(call, peer, bytes);
  if (Trace* const trace = active_trace()) {
    const std::uint64_t now = ticks();
    trace->record(TraceKind::kOperation, trace->name_of(call), now, now,
                  {.peer = peer, .bytes = bytes});
  }
}

}  // namespace am
