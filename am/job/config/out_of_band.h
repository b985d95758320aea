// A job whose processes another runtime has brought together, such as MPI: how they exchange bytes
// before the library's own ways exist. Runtimes call these the out-of-band collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "am/types/function.h"
#include "am/types/types.h"

namespace am {

// Config::out_of_band of a job of that kind. `rank` and `size` are constant, and the functions are
// callable, until the job has ended; they may throw Error. The job copies this. If its constructor
// throws, only `abort` is kept, until the process ends: the others wait for this process, so
// nothing but Job::abort(others, ...) may follow.
//
// `allgather`, `barrier` and `release` are called by the thread that makes the job's collective
// call, one at a time and by all processes in the same order; they wait by whatever means the
// runtime has, and run no handler of the job.
struct OutOfBand {
  std::string name;  // of the runtime, for people: Job::launcher()
  Rank rank = 0;     // of this process in the job, below `size`
  std::uint32_t size = 1;

  // Writes the `bytes` bytes at `mine` of each process, by rank, to `all`, which has room for
  // size * bytes. Called by the start of a job, by Job::exchange() and what is set up by it:
  // endpoints that are connected, zero-copy buffers.
  Function<void(const void* mine, std::size_t bytes, void* all)> allgather;
  // Returns when all processes have called it. Called at the end of the start, and by the end of a
  // job that spans nodes.
  Function<void()> barrier;
  // The job has ended here: nothing is called any more.
  Function<void()> release;
  // Ends the other processes of the job, whose exit code is to be `exit_code`, from 1 to 255; this
  // one leaves with that code when it returns. Any thread, also during exit(). Empty: the runtime's
  // launcher does it by itself when a process leaves with an exit code that is not 0.
  Function<void(int exit_code)> abort;
};

}  // namespace am
