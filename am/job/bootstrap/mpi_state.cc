#include "am/job/bootstrap/mpi_state.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace am {
namespace {

constexpr std::size_t kMaxVersion = 16384;  // MPI_MAX_LIBRARY_VERSION_STRING is 8192 at most

// Functions that have the same types in every MPI library.
using Flag = int(int* flag);
using Version = int(char* version, int* length);

template <class Function>
Function* function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::vector<std::function<void()>>& goodbyes() {
  static auto* const all =
      new std::vector<std::function<void()>>;  // not destroyed before at_exit()
  return *all;
}
pid_t polite = 0;  // the process that says it; 0: none

void at_exit() {
  if (polite != getpid()) return;
  for (; !goodbyes().empty(); goodbyes().pop_back()) goodbyes().back()();
}

}  // namespace

MpiPhase mpi_phase() {
  auto* const initialized = function<Flag>("MPI_Initialized");
  auto* const finalized = function<Flag>("MPI_Finalized");
  if (initialized == nullptr || finalized == nullptr) return MpiPhase::kAbsent;
  int begun = 0;
  int ended = 0;
  initialized(&begun);
  finalized(&ended);
  if (ended != 0) return MpiPhase::kFinalized;
  return begun != 0 ? MpiPhase::kInitialized : MpiPhase::kBefore;
}

std::string mpi_version() {
  auto* const version = function<Version>("MPI_Get_library_version");
  if (version == nullptr) return "MPI";
  std::array<char, kMaxVersion> text{};
  int length = 0;
  version(text.data(), &length);
  const std::string_view all(text.data());
  std::string line(all.substr(0, all.find_first_of("\r\n")));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

bool mpi_uses_pmi1() {
  return mpi_phase() != MpiPhase::kAbsent && !mpi_version().starts_with("Open MPI");
}

void say_at_exit(std::function<void()> goodbye) {
  static const bool registered = std::atexit(at_exit) == 0 && std::at_quick_exit(at_exit) == 0;
  if (!registered) return goodbye();
  goodbyes().push_back(std::move(goodbye));
  polite = getpid();
}

}  // namespace am
