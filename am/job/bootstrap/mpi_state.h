// What an MPI library in this process is doing, asked without being linked with one: it talks to
// the same launcher, and under PMI-1 over the same descriptor.
#pragma once

#include <functional>
#include <string>

namespace am {

struct MpiState {
  enum class Phase {
    kAbsent,       // no MPI library is linked with the program, or it hides its functions
    kBefore,       // MPI_Init has not been called
    kInitialized,  // between MPI_Init and MPI_Finalize
    kFinalized,
  };
  Phase phase = Phase::kAbsent;
  std::string version;     // the first line that MPI_Get_library_version gives, or "MPI"
  bool uses_pmi1 = false;  // with a launcher that offers PMI-1; Open MPI does not
};

// Asks by MPI_Initialized, MPI_Finalized and MPI_Get_library_version, which MPI allows at all
// times. Any thread.
MpiState mpi_state();

// Calls `goodbye` when this process, and not one forked from it, leaves by exit() or the end of
// main: a launcher that has heard a goodbye refuses the MPI_Init of a program which calls it later.
// Those of several calls are called in the opposite order. Not for two threads at a time.
void say_at_exit(std::function<void()> goodbye);

}  // namespace am
