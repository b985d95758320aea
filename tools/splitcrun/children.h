// The processes of a job, from fork to the last one reaped, with whatever they started themselves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "am/types/types.h"
#include "tools/splitcrun/inherited.h"
#include "tools/splitcrun/options.h"
#include "tools/splitcrun/output.h"
#include "tools/splitcrun/topology.h"

namespace am::launcher {

// The end of one process of the job; `status` as waitpid gives it.
struct Ended {
  Rank rank;
  pid_t pid;
  int status;
};

// A process of the job was stopped by `signal`, or goes on (0).
struct Stopped {
  Rank rank;
  pid_t pid;
  int signal;
};

// All children of this process, those that have ended and were not waited for among them.
std::vector<pid_t> children();

class Children {
 public:
  // What all processes are started with.
  struct Setup {
    const Options& options;
    const Inherited& inherited;
    int job_fd;                                 // the control region
    const std::vector<Processors>& processors;  // of each rank; empty: any
    Output* output;                             // nullptr: they write where splitcrun writes
  };

  // Starts all processes; each is killed when splitcrun's supervisor dies. Also makes this process
  // the reaper of what they leave behind. Throws Failure when a process cannot be forked; the
  // others are ended then. Whether they become the program is not known yet: start_failure().
  explicit Children(const Setup& setup);
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children();

  std::uint32_t running() const { return running_; }  // processes of the job
  bool is_running(Rank rank) const { return pids_[rank] != 0; }
  pid_t pid(Rank rank) const { return pids_[rank]; }
  // Whether one has begun to end that reap() has not seen ended.
  bool one_is_ending() const;

  // Readable when start_failure() may have something new; -1: all have become the program.
  int start_fd() const { return start_errors_; }
  // Why a process could not become the program, if one could not. Does not wait.
  std::optional<Failure> start_failure();

  // What has happened to processes since the last call.
  struct News {
    std::vector<Ended> ended;
    std::vector<Stopped> stopped;  // a process that was stopped and goes on since is not among them
  };
  // Reaps orphans as well.
  News reap();

  // True once nothing is left: no process of the job and nothing that they started.
  bool none_left() const { return none_left_; }

  void signal_all(int signal);             // every process of the job
  void signal_one(Rank rank, int signal);  // if it still runs
  void signal_orphans(int signal);         // what their dead left behind

 private:
  void start(const Setup& setup, Rank rank, int null_fd, int error_pipe);
  void kill_and_wait();

  const std::string program_;
  std::vector<pid_t> pids_;  // by rank; 0: has ended
  std::uint32_t running_ = 0;
  int start_errors_ = -1;  // closed by exec at the other end: an errno for each exec that failed
  bool none_left_ = false;
};

}  // namespace am::launcher
