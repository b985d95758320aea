// am/c/binding: Active Messages II in C (am/c/am2.h) over am/core and am/job. It knows nothing of
// the SPMD layer above it. Nothing is thrown through the calls that C programs make.
//
// This file: the one job of a process, from the first AM_Init() to the end of the process.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "am/job/job.h"

namespace am::c {

// AM-II's calls name no job, so there is one of it: the process's. Thread rule: any.
class Library {
 public:
  static Library& get() noexcept;

  // AM_Init(), AM_Terminate(): inside guarded().
  void begin(const char* call);
  void end(const char* call);

  // Whether AM_Init() has been called oftener than AM_Terminate().
  bool in_use() const noexcept { return levels_.load(std::memory_order_relaxed) > 0; }
  // Once in_use(), until the process ends.
  Job& job() noexcept { return *job_; }

  // `function` is called when the process is about to end and its job has finished: the rooms above
  // this one end what they have of the job, and it returns whether the job may be destroyed.
  void before_end(bool (*function)()) noexcept { before_end_ = function; }

  // "rank 1: " before a sentence, "" as long as there is no job.
  std::string prefix() const;
  bool verbose() const noexcept { return verbose_.load(std::memory_order_relaxed); }
  bool set_verbose(bool verbose) noexcept {
    return verbose_.exchange(verbose, std::memory_order_relaxed);
  }

 private:
  void join();
  static void at_exit(int exit_code, void*);
  void finish();

  // Guards the making of the job, and changes of levels_. Recursive: the handlers that run while
  // bundles are freed may call AM_Init().
  std::recursive_mutex mutex_;
  // No memory is published by the next three: what they say of other memory, a caller has learned
  // by the call that wrote them.
  std::atomic<int> levels_{0};
  std::atomic<bool> verbose_{false};
  std::atomic<std::int64_t> rank_{-1};
  pid_t process_ = 0;  // that has joined; a child of it has not
  std::unique_ptr<Job> job_;
  bool (*before_end_)() = nullptr;
  bool ended_ = false;  // the job, with the process
};

}  // namespace am::c
