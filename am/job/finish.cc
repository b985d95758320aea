// The end of a job, when nothing is on its way any more.

#include "am/job/job.h"
#include "am/port.h"

namespace am {
namespace {

// Calls `visit` for the bundles of `thread`; nullptr: of all threads. Handlers that run meanwhile
// may end bundles: then the next one has taken the place of the one before.
template <class Visit>
void for_bundles(const Router& router, const void* thread, Visit&& visit) {
  for (std::size_t i = 0;;) {
    Bundle* const bundle = router.find_bundle(thread, i);
    if (bundle == nullptr) return;
    visit(*bundle);
    std::size_t same = i;
    if (router.find_bundle(thread, same) == bundle && same == i) ++i;
  }
}

// Messages that the calling thread's endpoints, and those that have ended, have sent and received.
std::uint64_t count_messages(const Router& router) {
  std::uint64_t sum = router.retired();
  for_bundles(router, Bundle::this_thread(), [&](const Bundle& bundle) {
    for (const Endpoint* endpoint : bundle.endpoints()) sum += endpoint->stats().messages();
  });
  return sum;
}

void poll_all(Bundle& bundle) {
  while (bundle.poll() + bundle.poll_siblings() != 0) {
  }
}

}  // namespace

// In each round a process first waits for what it has sent, then handles what it finds, and then
// meets the others. After a round in which every process has sent and received nothing since it
// entered the round before, nothing is on its way: what somebody had sent before that entry has
// come to its end, as its sender has waited for it, or, where the sender's endpoint has ended, it
// was there to be found by the receiver in the round.
void Job::quiesce(Bundle& bundle, const char* call, const SourceLocation& where) {
  if (bundle.handling()) bundle.refuse(call, "a handler may not wait; call it after poll()");
  const Bundle::Waiting waiting(bundle);
  Port* const port = router_->port();
  do {
    for_bundles(*router_, Bundle::this_thread(), [&](Bundle& one) { one.flush(call, where); });
    if (port != nullptr) {
      bundle.wait_with_siblings([port] { return port->has_flushed(); },
                                [&] {
                                  return Reason{.call = call,
                                                .where = where,
                                                .needs = "answers for which no endpoint waits"};
                                });
    }
    poll_all(bundle);
    const std::uint64_t messages = count_messages(*router_);
    if (barrier_->enter(messages != messages_)) messages_ = messages;
    barrier_->wait(bundle, call, where);
  } while (barrier_->any_more());
}

void Job::finish(Bundle& bundle, const char* call, const SourceLocation& where) {
  const Bundle::Waiting waiting(bundle);
  // Those of other threads, which are not inside any more, become this one's.
  for_bundles(*router_, nullptr, [](Bundle& one) { one.poll(); });
  quiesce(bundle, call, where);
  if (router_->far_peers()) leave_network(call, where);
  router_->activity().finish(barrier_->count());
  bootstrap_->finished();
}

// Who has passed the barrier may still be needed by those who have not: the network may want its
// hand to bring on what it has sent. So it stays at work until all have passed.
void Job::leave_network(const char* call, const SourceLocation& where) {
  ShownWait shown(router_->activity());
  shown.show({.call = call, .where = where});
  router_->port()->tend_while([this] { bootstrap_->barrier(); });
  router_->leave();
}

}  // namespace am
