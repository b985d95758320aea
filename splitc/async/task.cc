#include "splitc/async/task.h"

#include "am/core/bundle.h"
#include "am/observe/activity.h"
#include "splitc/world/world.h"

namespace splitc::detail {

void check_task_starts() { check_may_wait("task"); }

bool TaskFrame::end() noexcept {
  ended = true;
  --my_tasks->unfinished;
  waiters.move_to(my_tasks->ready);
  if (dropped) keep_error();
  return dropped;
}

void wait_with_tasks(bool (*done)(const void*), const void* argument, Call on_behalf) {
  check_may_wait(on_behalf);
  if (done(argument)) return;
  if (my_tasks->run) {
    refuse(on_behalf,
           "called in a task that has been resumed, so that what it waits for may wait for it; say "
           "co_await there");
  }
  for (;;) {
    run_ready();  // tasks go on
    if (done(argument)) return;
    const auto can_go_on = [&] { return can_run_ready() || done(argument); };
    wait_with_siblings(can_go_on, [&on_behalf] {
      return am::Reason{.call = on_behalf,
                        .needs = "an operation, or a task",
                        .wanted = my_tasks->unfinished,
                        .unit = my_tasks->unfinished == 1 ? "task" : "tasks",
                        .needs_all = true};
    });
  }
}

void finish_tasks(Call on_behalf) {
  if (my_tasks->unfinished == 0 && !my_tasks->orphan) return;
  wait_with_tasks([](const void*) { return my_tasks->unfinished == 0 && !can_run_ready(); },
                  nullptr, on_behalf);
}

}  // namespace splitc::detail
