#include "splitc/collective/barrier.h"

#include "am/collective/barrier.h"
#include "am/core/bundle.h"
#include "am/job/job.h"
#include "am/types/types.h"
#include "splitc/group/calls.h"
#include "splitc/group/groups.h"
#include "splitc/group/started.h"
#include "splitc/world/world.h"

namespace splitc {
namespace {

using detail::Groups;

// Of release builds: one of am/, whose flags and counters are fastest. It compares no calls.
void enter(detail::Group& job, const detail::GroupCall& call) {
  {
    const auto lock = Groups::of_world().lock();
    job.begin_barrier(call);
  }
  if (world().job().barrier().enter()) return;
  detail::refuse(call,
                 "an exception has left the barrier before this one, so this process is still in "
                 "it; let what handlers throw leave the program");
}

void meet_as(const detail::GroupCall& call) {
  const detail::OfGroup of = detail::of_job(call);
  if constexpr (am::kChecked) return detail::run_plan(of, {});
  enter(*of.group, call);
  world().job().barrier().wait(detail::waiting_bundle(), {call.name.text, call.where});
}

}  // namespace

[[gnu::noinline]] void barrier(am::Here where) {
  if constexpr (am::kChecked) detail::check_frames_below(__builtin_frame_address(0));
  meet_as({"barrier", where});
}

void detail::meet(Call call) { meet_as(GroupCall(call)); }

void barrier_notify(am::Here where) {
  Groups& groups = Groups::of_world();
  const detail::Call call("barrier_notify", where);
  groups.check_may_call(call);
  if (groups.is_notified()) {
    detail::refuse(call, "called twice; every notify is followed by one barrier_wait()");
  }
  detail::check_first_thread(call, "barriers in two halves");
  groups.end_started(*groups.job(), call);
  const detail::GroupCall barrier("barrier", where);  // others may be in that
  if constexpr (am::kChecked) {
    groups.notify(detail::SharedOwner<detail::StartedGroupCall>(
        new detail::StartedGroupCall(groups.job(), barrier, detail::GroupPlan{})));
  } else {
    enter(*groups.job(), barrier);
    groups.notify(nullptr);
  }
}

void barrier_wait(am::Here where) {
  Groups& groups = Groups::of_world();
  const detail::Call call("barrier_wait", where);
  groups.check_may_call(call);
  if (!groups.is_notified()) {
    detail::refuse(call,
                   "called without barrier_notify(), which says that this process "
                   "is here; call that first");
  }
  const detail::SharedOwner<detail::StartedGroupCall> started = groups.end_notified();
  if constexpr (am::kChecked) {
    started->wait(where);
  } else {
    world().job().barrier().wait(detail::waiting_bundle(), call);
  }
}

}  // namespace splitc
