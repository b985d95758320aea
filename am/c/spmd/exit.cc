#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "am/c/spmd.h"
#include "am/c/spmd/world.h"
#include "am/core/bundle.h"
#include "am/core/process.h"
#include "am/job/config/exit_request.h"
#include "am/observe/observers.h"
#include "am/types/clock.h"
#include "am/types/thread.h"

namespace am::c {
namespace {

// Between an end that was asked for here and one without the exit callback, which may need what
// this thread holds if it is in a signal handler.
constexpr int kPatienceMs = 2000;
// How long an exit with code 0 waits for the others, where their statistics or traces are wanted.
constexpr std::int64_t kComeNs = 10'000'000'000;

ExitRequest own_request;                     // where the launcher has none
std::atomic<ExitRequest*> request{nullptr};  // nullptr: not started
std::atomic<Job*> alone{nullptr};            // the launcher does not hear of an end: the job
Job* started = nullptr;                      // the job
std::atomic<void (*)(int)> exit_callback{nullptr};
std::atomic<pid_t> watcher{0};  // its thread
pid_t process = 0;              // that has started; a child of it has not
pid_t starter = 0;              // the thread that has

void call_back(int code) {
  // pairs with: AMX_SPMDSetExitCallback; what the program wrote before that call is seen by it
  if (const auto callback = exit_callback.exchange(nullptr, std::memory_order_acquire)) {
    callback(code);
  }
  std::fflush(stdout);
}

[[noreturn]] void end_process(int code) {
  // The program sets it as it sets any variable, before somebody may exit.
  if (AMX_SPMDkillmyprocess != nullptr) AMX_SPMDkillmyprocess(code);
  _exit(code);
}

// The launcher ends the others when a process leaves with another code than 0, and not otherwise.
[[noreturn]] void leave(int code) {
  Job* const job = alone.load(std::memory_order_relaxed);
  if (job == nullptr) end_process(code);
  if (code != 0) job->abort(code, "AMX_SPMDExit(" + std::to_string(code) + ")");
  job->abort(1,
             "AMX_SPMDExit(0) in a handler, or in another thread than that of AMX_SPMDStartup(): "
             "under this launcher a process leaves with code 0 only as exit(0) does, which waits "
             "for the others; call it in that thread, after AM_Poll()");
}

// Whether the calling thread may wait, as exit(0) does.
bool may_wait() noexcept { return gettid() == starter && !Bundle::handling(); }

// Whether this process ends as exit(0) does: the launcher does not hear of it, so the others have
// to come to their ends, too.
bool can_wait_for_others() noexcept {
  return alone.load(std::memory_order_relaxed) != nullptr && may_wait();
}

// Whether another thread may be inside a bundle of its own, which an ordinary end would poll.
bool others_have_bundles(const Process& all) {
  bool any = false;
  all.for_bundles(nullptr,
                  [&](const Bundle& one) { any = any || !one.belongs_to(Bundle::this_thread()); });
  return any;
}

// Whether all processes have called AMX_SPMDExit(0) where they may wait, or exit(0), so that each
// can end as exit(0) does, which gathers statistics and traces. Somebody may never come, and wait
// for this process instead.
bool have_all_come(ExitRequest& asked) {
  if (!is_observed() || !may_wait()) return false;
  const std::int64_t deadline = now_ns() + kComeNs;
  // (More: a process that calls again, in a function of atexit(), comes again.)
  const auto all = [&] { return asked.count_come() >= started->size(); };
  try {
    Bundle bundle(*started);
    if (others_have_bundles(bundle.process())) return false;
    asked.come();
    const auto decided = [&] {
      bundle.poll_siblings();
      return all() || asked.asked() || now_ns() >= deadline;
    };
    bundle.wait_until(decided, Wake::kMemory, [] {
      return Reason{.call = "AMX_SPMDExit", .needs = "the other processes, for what they tell"};
    });
  } catch (const std::exception& error) {
    started->abort(1, std::string("AMX_SPMDExit: ") + error.what() + started->thrown_by());
  }
  return all();
}

void watch(ExitRequest& asked) {
  watcher.store(gettid(), std::memory_order_relaxed);
  asked.wait();
  const int code = asked.code();
  call_back(code);
  leave(code);
}

}  // namespace

void start_exit_watch(Job& job) {
  ExitRequest* const shared = job.exit_request();
  if (shared == nullptr) alone.store(&job, std::memory_order_relaxed);
  ExitRequest& used = shared != nullptr ? *shared : own_request;
  process = getpid();
  starter = gettid();
  started = &job;
  start_thread("rank " + std::to_string(job.rank()) + ": AMX_SPMDStartup: ",
               "that waits for AMX_SPMDExit", [&used] { watch(used); })
      .detach();
  // No partner: whoever exits in a thread of this process was started after this, or is this one.
  request.store(&used, std::memory_order_relaxed);
}

bool exit_watch_uses_job() noexcept {
  return request.load(std::memory_order_relaxed) != nullptr &&
         alone.exchange(nullptr, std::memory_order_relaxed) == nullptr;
}

}  // namespace am::c

void (*AMX_SPMDkillmyprocess)(int code) = _exit;

// Async-signal-safe once started.
void AMX_SPMDExit(int code) {
  using namespace am::c;
  am::ExitRequest* const asked = request.load(std::memory_order_relaxed);
  if (asked == nullptr) {
    call_back(code & 0xff);
    end_process(code & 0xff);
  }
  if (getpid() != process) _exit(code & 0xff);  // a child has no part in the job
  if ((code & 0xff) == 0 && (can_wait_for_others() || have_all_come(*asked))) {
    call_back(0);
    std::exit(0);
  }
  asked->ask(code);
  // The watcher itself comes here from the exit callback. A signal would end the sleep early.
  if (gettid() != watcher.load(std::memory_order_relaxed)) {
    const am::SignalsBlocked blocked;
    poll(nullptr, 0, kPatienceMs);
  }
  end_process(asked->code());
}

int AMX_SPMDSetExitCallback(void (*callback)(int code)) {
  // pairs with: call_back
  am::c::exit_callback.store(callback, std::memory_order_release);
  return AM_OK;
}
