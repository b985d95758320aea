#include "am/c/binding/library.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <exception>
#include <new>

#include "am/c/am2.h"
#include "am/c/binding/handles.h"
#include "am/core/bundle.h"
#include "am/job/config/config.h"
#include "am/job/config/exit_request.h"
#include "am/types/forked.h"

namespace am::c {

// Never destroyed: it is used while the destructors of other variables run.
Library& Library::get() noexcept {
  alignas(Library) static std::array<std::byte, sizeof(Library)> memory;
  static auto* const library = ::new (memory.data()) Library;
  return *library;
}

std::string Library::prefix() const {
  const std::int64_t rank = rank_.load(std::memory_order_relaxed);
  return rank < 0 ? "" : "rank " + std::to_string(rank) + ": ";
}

void Library::begin(const char* call) {
  check_not_forked(call);
  const std::lock_guard lock(mutex_);
  if (ended_) refuse(AM_ERR_RESOURCE, "the process has left its job, as it is about to end");
  if (!job_) join();
  levels_.fetch_add(1, std::memory_order_relaxed);
}

void Library::join() {
  auto job = std::make_unique<Job>();
  // The job's own handlers were registered before, so that they run after this one.
  if (process_ == 0 && on_exit(&Library::at_exit, nullptr) != 0) {
    throw Error("AM_Init: no room for another handler of exit()");
  }
  spoil_in_children(&spoil_handles);
  job_ = std::move(job);
  process_ = getpid();
  rank_.store(job_->rank(), std::memory_order_relaxed);
  if (job_->config().verbose) set_verbose(true);
}

void Library::end(const char* call) {
  check_not_forked(call);
  const std::lock_guard lock(mutex_);
  const int levels = levels_.load(std::memory_order_relaxed);
  if (levels == 0) refuse(AM_ERR_NOT_INIT, "there was no AM_Init() that it could take back");
  if (levels == 1) {
    if (Bundle::handling()) {
      refuse(AM_ERR_IN_USE,
             "a handler may not free bundles; let it return, and terminate after AM_Poll()");
    }
    free_all_bundles();
  }
  levels_.fetch_sub(1, std::memory_order_relaxed);
}

// What the process has sent is still delivered, and others may need its memory until all have come
// here. An exit with another code than 0 is for the launcher, which ends the others.
void Library::at_exit(int exit_code, void*) {
  Library& library = get();
  if (exit_code != 0 || !library.job_ || getpid() != library.process_) return;
  if (ExitRequest* const shared = library.job_->exit_request()) shared->come();
  library.finish();
}

void Library::finish() {
  try {
    {
      Bundle last(*job_);
      job_->finish(last);  // while all endpoints are there: what was sent to them is handled
    }
    free_all_bundles();
    ended_ = true;
    levels_.store(0, std::memory_order_relaxed);
    if (!before_end_ || before_end_()) job_.reset();
  } catch (const std::exception& error) {
    job_->abort(1, std::string("exit: ") + error.what() + job_->thrown_by());
  } catch (...) {
    job_->abort(1, "exit: a handler has thrown something that is no std::exception");
  }
}

}  // namespace am::c

using namespace am::c;

int AM_Init() {
  return guarded("AM_Init", [] { Library::get().begin("AM_Init"); });
}

int AM_Terminate() {
  return guarded("AM_Terminate", [] { Library::get().end("AM_Terminate"); });
}
