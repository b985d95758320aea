// The end of a job, when nothing is on its way any more.

#include "am/collective/barrier.h"
#include "am/core/endpoint.h"
#include "am/core/far/messages.h"
#include "am/core/process.h"
#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"
#include "am/job/config/control.h"
#include "am/job/job.h"
#include "am/job/statistics/job_statistics.h"
#include "am/job/trace/job_trace.h"
#include "am/route/port.h"

namespace am {
namespace {

// Messages that the calling thread's endpoints, and those that have ended, have sent and received.
std::uint64_t count_messages(const Process& process) {
  std::uint64_t sum = process.retired();
  process.for_bundles(Bundle::this_thread(),
                      [&](const Bundle& bundle) { sum += bundle.messages(); });
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
void Job::quiesce(Bundle& bundle, Call call) {
  check_not_forked(call);
  if (bundle.handling()) bundle.refuse(call, "a handler may not wait; call it after poll()");
  const Bundle::Waiting waiting(bundle);
  do {
    process_->for_bundles(Bundle::this_thread(), [&](Bundle& one) { one.flush(call); });
    if (const FarMessages* const far = process_->far_messages()) {
      bundle.wait_with_siblings(
          [far] { return far->has_flushed(); },
          [&] { return Reason{.call = call, .needs = "answers for which no endpoint waits"}; });
    }
    poll_all(bundle);
    const std::uint64_t messages = count_messages(*process_);
    if (barrier_->enter(messages != messages_)) messages_ = messages;
    barrier_->wait(bundle, call);
  } while (barrier_->any_more());
}

void Job::finish(Bundle& bundle, Call call) {
  check_not_forked(call);
  const Bundle::Waiting waiting(bundle);
  // Those of other threads, which are not inside any more, become this one's.
  process_->for_bundles(nullptr, [](Bundle& one) { one.poll(); });
  if (statistics_) statistics_->stop();
  if (survives()) return finish_without_dead(bundle, call);
  quiesce(bundle, call);
  if (trace_) finish_trace();
  if (statistics_) report_statistics();
  if (router_->far_peers()) leave_network(call);
  router_->activity().finish(barrier_->count());
  bootstrap_->finished();
  remove_mark();
}

void Job::finish_trace() {
  trace_->finish(*process_, *this, [this](Bundle& bundle) { quiesce(bundle, "the trace"); });
  trace_.reset();
}

void Job::report_statistics() {
  const auto quiesce_for = [this](Bundle& bundle) { quiesce(bundle, "the statistics"); };
  try {
    statistics_->report(*this, quiesce_for);
  } catch (const PeerDied&) {  // the job ends as it would have without statistics
    statistics_->say_none();
  }
  statistics_.reset();
}

void Job::quiesce_without_dead(Bundle& bundle, Call call) {
  try {
    quiesce(bundle, call);
  } catch (const PeerDied&) {
    process_->for_bundles(Bundle::this_thread(), [&](Bundle& one) { one.flush(call); });
    poll_all(bundle);
  }
}

// Those that live meet in the launcher's memory, as a barrier may be one that some have passed when
// others hear of a death: each says that it needs nobody any more, once what it has sent has come
// to its end, and serves the others until all have said so.
void Job::finish_without_dead(Bundle& bundle, Call call) {
  const DeathNotices& notices = *bootstrap_->death_notices();
  // Unless a handler threw out of the wait below: others may have passed the barriers of this one.
  if (!notices.has_finished(rank())) quiesce_without_dead(bundle, call);
  if (statistics_) report_statistics();
  bootstrap_->finished();
  remove_mark();
  const auto all_finished = [&] {
    bundle.poll_siblings();
    return notices.nobody_needs(rank());
  };
  bundle.wait_until(all_finished, Wake::kMemory,
                    [&] { return Reason{.call = call, .needs = "the processes that live"}; });
  process_->leave();
  router_->activity().finish(barrier_->count());
}

// A process that has passed the barrier may still be needed by those that have not: its outstanding
// sends may need it to keep polling (no hardware progress). So it makes progress until all have
// passed.
void Job::leave_network(Call call) {
  ShownWait shown(router_->activity());
  shown.show({.call = call});
  router_->port()->tend_while([this] { bootstrap_->barrier(); });
  process_->leave();
}

}  // namespace am
