// The processes of a job, from fork to the last one reaped, with whatever they started themselves.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "am/job/launcher/options.h"
#include "am/job/launcher/output.h"
#include "am/types.h"

namespace am::launcher {

// The end of one process of the job; `status` as waitpid tells it.
struct Ended {
  Rank rank;
  pid_t pid;
  int status;
};

class Children {
 public:
  // What all processes are started with.
  struct Setup {
    const Options& options;
    int job_fd;                   // the control region
    sigset_t signal_mask;         // the one that splitcrun was started with
    std::vector<int> processors;  // rank i runs on the i-th; empty: wherever it likes
    Output* output;               // nullptr: they write where splitcrun writes
  };

  // Starts all processes; each is killed when splitcrun dies. Also makes splitcrun the reaper of
  // what they leave behind. Throws Failure when one cannot be started; the others are ended then.
  explicit Children(const Setup& setup);

  std::uint32_t running() const { return running_; }  // processes of the job
  bool is_running(Rank rank) const { return pids_[rank] != 0; }

  // The processes of the job that have ended since the last call. Reaps orphans as well.
  std::vector<Ended> reap();

  // True once nothing is left: no process of the job and nothing that they started.
  bool none_left() const { return none_left_; }

  void signal_all(int signal);      // every process of the job
  void signal_orphans(int signal);  // what their dead left behind

 private:
  void start(const Setup& setup, Rank rank, int error_pipe);
  void kill_and_wait();

  std::vector<pid_t> pids_;  // by rank; 0: has ended
  std::uint32_t running_ = 0;
  bool none_left_ = false;
};

}  // namespace am::launcher
