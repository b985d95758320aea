// Split-C beside MPI in one program. This header is compiled by the program's own MPI compiler
// (mpicxx); the library itself is linked with no MPI, so that one installation serves all of them:
//
//   SPLITPHASE_CXX=mpicxx splitc++ -O2 prog.cc -o prog && mpirun -n 4 ./prog
//
//   #include "splitc/splitc.h"
//   #include "splitc/with_mpi.h"
//
//   MPI_Init(&argc, &argv);
//   ...                                                     // MPI
//   splitc::run_with_mpi(comm, argc, argv, [&](splitc::Args) {
//     splitc::spread_array<double> x(1000);                 // global pointers, and MPI as before
//   });
//   ...                                                     // MPI
//   MPI_Finalize();
//
// The job has the processes of a communicator: all of MPI_COMM_WORLD, or those of a part, as
// MPI_Comm_split gives it. Process r of the job is rank r of that communicator. Jobs may follow
// each other, over the same communicator or others; a process is in one at a time.
//
// Traffic. The job duplicates the communicator, so that its few collectives never meet those of the
// program: three MPI_Allgather and an MPI_Barrier at the start, two more MPI_Allgather across
// nodes, one for each am::Endpoint that is connected, Job::exchange() and set of zero-copy buffers,
// and across nodes an MPI_Barrier at the end. Everything else, get and put, channels, messages and
// barriers, goes the library's own ways.
//
// Progress. A call of MPI that waits runs no handlers of the job, and a call of the library brings
// on no MPI: do not wait in one for what a process does only behind the other, and complete MPI's
// requests before a call of the library that waits. Across nodes a thread of the library serves
// what others read and write meanwhile, as with SPLITC_PROGRESS=thread (docs/progress.md).
//
// Threads. MPI_THREAD_FUNNELED is enough, and what MPI_Init gives will do: MPI is called only by
// the thread that begins the job, inside the calls that begin and end it and those that set
// something up. Unless MPI was initialised with MPI_THREAD_SERIALIZED or more, that is the thread
// that called MPI_Init.
//
// MPI_Finalize may come before the end of a job whose processes are all on one node. It is
// collective over them and may wait, so call barrier() before. Afterwards no
// am::Endpoint can be connected and nothing exchanged (Job::exchange). The end of a job across
// nodes needs MPI: there MPI_Finalize ends the job with a sentence.
//
// Errors. What is wrong with the arguments is said before anybody waits. What goes wrong later,
// when others wait already, prints a sentence and leaves with exit code 1; the launcher then ends
// all processes of MPI_COMM_WORLD, as it does when one dies (srun --mpi=pmi2 only with -K). Not by
// MPI_Abort, in which MPICH 4.0.2 was seen to wait for ever for processes that are not in MPI.
#pragma once

#include "am/types/language.h"
#if SPLITPHASE_LANGUAGE

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "am/job/config/out_of_band.h"
#include "splitc/start/mpi_group.h"
#include "splitc/start/run.h"

namespace splitc {

// Runs `program(Args)` on the processes of `comm`, and returns what it returns: run(), whose header
// has the rest, over a communicator. Collective over `comm`; waits for all its processes at the
// start and at the end.
//
// MPI has been initialised and stays so: the caller may go on with it. `comm` is an
// intra-communicator that stays the caller's, and may be freed as soon as `program` has begun.
//
// Returns 1 behind a sentence on stderr, before it has waited for anybody, if MPI is not
// initialised or is finalised, `comm` is MPI_COMM_NULL or an inter-communicator, or this is not a
// thread that may call MPI. An exception that leaves the program ends every process. Throws Error
// inside run().
template <class Program>
int run_with_mpi(MPI_Comm comm, int argc, char** argv, Program&& program) {
  detail::check_none_runs("run_with_mpi");
  am::OutOfBand others;
  try {
    others = detail::meet_by_mpi(comm, "run_with_mpi");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return detail::run_program(argc, argv, {}, program, &others);
}

// Runs on all processes of MPI_COMM_WORLD, for a main() that leaves MPI to the library: calls
// MPI_Init_thread with MPI_THREAD_FUNNELED unless MPI is initialised already, and in that case
// MPI_Finalize after the job unless the program did. So `program` may use MPI, and another library
// that asks MPI_Initialized first finds it initialised.
template <class Program>
int run_with_mpi(int argc, char** argv, Program&& program) {
  detail::check_none_runs("run_with_mpi");
  const bool begins = !detail::mpi_is_initialized();
  int provided = 0;
  if (begins) MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int code = run_with_mpi(MPI_COMM_WORLD, argc, argv, std::forward<Program>(program));
  if (begins && !detail::mpi_is_finalized()) MPI_Finalize();
  return code;
}

// A job that begins and ends where a program likes, for code that does not fit into one function:
//
//   splitc::MpiJob job(comm);
//   ...                         // everything of splitc/splitc.h
//   job.finish();
//
// The thread that makes it is the first thread of the program. Arrays and whatever else
// was made in the job end before it.
class MpiJob {
 public:
  // Begins a job of the processes of `comm`: as run_with_mpi, but what this returns 1 for is thrown
  // as am::Error. Collective; waits for all processes of `comm`. Costs milliseconds.
  explicit MpiJob(MPI_Comm comm) : running_(begin(comm)), exceptions_(std::uncaught_exceptions()) {}

  // finish(), if that was not called. During an exception, and if finish() throws, ends every
  // process of the job with a sentence, as the others would wait for ever.
  ~MpiJob() {
    if (!running_) return;
    if (std::uncaught_exceptions() > exceptions_) {
      detail::abort_program(*running_, "MpiJob: an exception has left the job before finish()");
    }
    try {
      finish();
    } catch (const std::exception& error) {
      detail::abort_program(*running_, error.what());
    } catch (...) {
      detail::abort_program(*running_, "MpiJob::finish: a handler has thrown something");
    }
  }
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  // Ends the job: what the end of run() does. Afterwards global pointers are void and another job
  // may begin. Collective; waits for all processes, runs handlers meanwhile, and if one throws out
  // of it, call it again. A second call does nothing.
  void finish() {
    if (!running_) return;
    detail::finish_program(*running_, "MpiJob::finish");
    running_.reset();
  }

 private:
  static detail::RunningPointer begin(MPI_Comm comm) {
    detail::check_none_runs("MpiJob");
    const am::OutOfBand others = detail::meet_by_mpi(comm, "MpiJob");
    return detail::begin_program(&others);
  }

  detail::RunningPointer running_;  // nullptr: finished
  const int exceptions_;            // that were propagating when it began
};

}  // namespace splitc

#endif
