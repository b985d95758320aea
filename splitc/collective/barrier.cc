#include "splitc/collective/barrier.h"

#include "am/collective/barrier.h"
#include "am/core/bundle.h"
#include "am/job/job.h"
#include "am/types/source_location.h"
#include "am/types/types.h"
#include "splitc/collective/round.h"
#include "splitc/group/groups.h"
#include "splitc/world/world.h"

namespace splitc {

void detail::meet(Call call) {
  check_may_wait(call);
  Groups::before_call_of_job(call);
  World& w = world();
  if (am::kChecked || w.notified()) return Round(call, 0).meet();
  w.job().barrier(w.bundle(), call.name, call.where);
}

[[gnu::noinline]] void barrier(am::SourceLocation where) {
  if constexpr (am::kChecked) detail::check_frames_below(__builtin_frame_address(0));
  detail::meet({"barrier", where});
}

void barrier_notify(am::SourceLocation where) {
  const detail::Call call("barrier_notify", where);
  detail::check_may_wait(call);
  detail::Groups::before_call_of_job(call);
  World& w = world();
  if (w.notified()) {
    detail::refuse(call, "called twice; every notify is followed by one barrier_wait()");
  }
  if constexpr (am::kChecked) {
    detail::Round round("barrier", 0);
    round.start_meet();
    round.leave_payload();
  } else {
    if (!w.job().barrier().enter()) {
      detail::refuse(call,
                     "an exception has left the barrier before this one, so this process is "
                     "still in it; let what handlers throw leave the program");
    }
  }
  w.notified() = true;
}

void barrier_wait(am::SourceLocation where) {
  const detail::Call call("barrier_wait", where);
  detail::check_may_wait(call);
  World& w = world();
  if (!w.notified()) {
    detail::refuse(call,
                   "called without barrier_notify(), which says that this process "
                   "is here; call that first");
  }
  w.job().barrier().wait(w.bundle(), call.name, where);
  w.notified() = false;
  if constexpr (am::kChecked) detail::Round::latest().check();
}

}  // namespace splitc
