// What an MPI library in this process is doing, asked without being linked with one: it talks to
// the same launcher, and under PMI-1 over the same descriptor.
#pragma once

#include <functional>
#include <string>

namespace am {

enum class MpiPhase {
  kAbsent,       // no MPI library is linked with the program, or it hides its functions
  kBefore,       // MPI_Init has not been called
  kInitialized,  // between MPI_Init and MPI_Finalize
  kFinalized,
};

// These ask by MPI_Initialized, MPI_Finalized and MPI_Get_library_version, which MPI allows at all
// times. Any thread.
MpiPhase mpi_phase();
// The first line of the library's version, or "MPI".
std::string mpi_version();
// Whether there is an MPI library that speaks PMI-1 with a launcher which offers it: Open MPI does
// not.
bool mpi_uses_pmi1();

// Calls `goodbye` when this process, and not one forked from it, leaves by exit() or the end of
// main: a launcher that has heard a goodbye refuses the MPI_Init of a program which calls it later.
// Those of several calls are called in the opposite order. Not for two threads at a time.
void say_at_exit(std::function<void()> goodbye);

}  // namespace am
