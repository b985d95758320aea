// Polls of an endpoint: what comes from this node.

#include "am/core/dispatch.h"
#include "am/core/parts.h"
#include "am/core/rows.h"

namespace am {

// While a handler runs, other threads of a parallel bundle send, poll and unmap. So what is gone
// through is looked up again after each step, and what another thread is at is left out: that
// thread wakes who sleeps meanwhile.
//
// (Inline, and given the endpoint: as a call that looks it up it costs a round trip 2 % more.)
template <class Access>
[[gnu::always_inline]] inline int Outgoing::reap(Endpoint& endpoint) {
  int count = 0;
  for (std::size_t i = 0; i < awaiting_.size();) {
    const std::uint32_t to = awaiting_[i];
    shmem::Outbox& box = *boxes_[to];  // stays while it has something that this thread handles
    const auto is_done = [&] {
      return (Access::kAlone || (i < awaiting_.size() && awaiting_[i] == to)) && box.awaited() == 0;
    };
    try {
      count += box.reap<Access::kThreads>(Replies<Access>(endpoint, to));
    } catch (...) {
      if (is_done()) drop_awaiting(i);
      throw;
    }
    if (is_done()) {
      drop_awaiting(i);
    } else {
      ++i;
    }
  }
  return count;
}

template <class Access>
[[gnu::always_inline]] inline int Incoming::poll(Endpoint& endpoint) {
  return mailbox_.poll<Access::kThreads>(Arrivals<Access>(endpoint));
}

// A poll that has found replies returns at once, so that a caller who waits for one does not pay
// for polling the requests as well; these have their turn in the next poll.
template <class Access>
int EndpointParts::poll() {
  int count = 0;
  if (alerts.pending()) [[unlikely]]
    count += alerts.attend<Access>();
  count += outgoing.reap<Access>(endpoint);
  if (count != 0 && !requests_next) {
    requests_next = true;
    return count;
  }
  requests_next = false;
  return count + incoming.poll<Access>(endpoint);
}
template int EndpointParts::poll<OneThread>();
template int EndpointParts::poll<AnyThread>();

bool EndpointParts::has_message() noexcept {
  return outgoing.has_reply() || (alerts.pending() && alerts.would_find()) ||
         incoming.mailbox().has_message();
}

}  // namespace am
