#include "am/job/config/other_launchers.h"

#include <sys/stat.h>

#include <array>
#include <limits>

#include "am/job/config/number.h"
#include "am/job/config/variables.h"

namespace am {
namespace {

constexpr std::string_view kLaunchersOwn = "it is the launcher's to set, so start with one";

// Launchers without PMIx and PMI-1, or with both switched off, by the variable that says how many
// processes they started.
struct Stranger {
  std::string_view size_name;
  std::string_view launcher;
  std::string_view remedy;
};
constexpr std::array<Stranger, 5> kStrangers{{
    {"SLURM_STEP_NUM_TASKS", "srun without --mpi",
     "start it with srun --mpi=pmix or srun --mpi=pmi2 (srun --mpi=list tells which there are)"},
    {"OMPI_COMM_WORLD_SIZE", "an mpirun of Open MPI without PMIx",
     "start it with mpirun of Open MPI 4 or later, or with mpiexec.hydra"},
    {"FLUX_JOB_SIZE", "flux without PMI", "start it with flux run -o pmi=simple"},
    {"MPIRUN_NPROCS", "mpirun_rsh", "start it with mpiexec.hydra"},
    {"PMI_SIZE", "a launcher without PMI_FD",
     "start it with mpiexec.hydra without -pmi-port, or mpiexec --pmi=pmix where PALS starts jobs"},
}};

bool is_socket(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

void read_other_launchers(Config& config) {
  config.pmix = value_of("PMIX_RANK") && value_of("PMIX_NAMESPACE");
  if (value_of("PMI_FD") && value_of("PMI_RANK") && value_of("PMI_SIZE")) {
    PmiConnection pmi{};
    pmi.fd =
        static_cast<int>(read_number("PMI_FD", 0, std::numeric_limits<int>::max(), kLaunchersOwn));
    pmi.size = static_cast<std::uint32_t>(read_number("PMI_SIZE", 1, kMaxSize, kLaunchersOwn));
    pmi.rank = static_cast<Rank>(read_number("PMI_RANK", 0, pmi.size - 1, kLaunchersOwn));
    config.pmi = pmi;
  }
  if (config.pmix || config.pmi) return;
  for (const Stranger& stranger : kStrangers) {
    const auto size = value_of(stranger.size_name);
    if (!size || whole_number<std::uint64_t>(*size).value_or(0) < 2) continue;
    config.stranger.append("started by ").append(stranger.launcher).append(" (");
    config.stranger.append(stranger.size_name).append("=").append(*size);
    config.stranger.append("), which tells its processes nothing of one another; ");
    config.stranger.append(stranger.remedy);
    return;
  }
}

// Hydra hands its socket to the processes that it starts, and the launchers with PMIx close what
// they do not know.
void choose_launcher(Config& config) {
  if (!config.pmix || !config.pmi) return;
  if (is_socket(config.pmi->fd)) {
    config.pmix = false;
  } else {
    config.pmi.reset();
  }
}

}  // namespace am
