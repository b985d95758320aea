#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <vector>

#include "am/job/config/config.h"
#include "am/job/config/variables.h"

namespace am {

namespace {

// Which process of which job a launcher says that this is.
struct Place {
  std::string text;         // without blanks
  std::uint64_t inode = 0;  // of the descriptor to the launcher; 0: none is open
  void (*drop)(Config&) = nullptr;
};

std::uint64_t inode_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

void drop_own(Config& config) {
  config.job_fd = -1;
  config.rendezvous.reset();
  config.rank = 0;
  config.size = 1;
}

// What launchers, one within another, have left in the environment.
std::vector<Place> places_of(const Config& config) {
  std::vector<Place> places;
  const std::string rank = std::to_string(config.rank);
  if (config.job_fd >= 0) {
    // A nested splitcrun removes the mark: beside one this is inherited, whatever is open there
    // now.
    places.push_back({"splitcrun:" + rank, 0, &drop_own});
  } else if (config.rendezvous) {
    places.push_back(
        {"rendezvous:" + config.rendezvous->host + ":" + config.rendezvous->port + ":" + rank, 0,
         &drop_own});
  }
  if (config.pmix) {
    const std::string name(value_of("PMIX_NAMESPACE").value_or(""));
    places.push_back({"PMIx:" + name + ":" + std::string(value_of("PMIX_RANK").value_or("")), 0,
                      [](Config& one) { one.pmix = false; }});
  }
  if (config.pmi) {
    places.push_back(
        {"PMI-1:" + std::to_string(config.pmi->fd) + ":" + std::to_string(config.pmi->rank),
         inode_of(config.pmi->fd), [](Config& one) { one.pmi.reset(); }});
  }
  return places;
}

// Also what is not this process's own, as a launcher further in goes before it.
std::vector<Place> all_places(const Config& config) {
  Config others;
  read_other_launchers(others);
  Config all = config;
  all.pmix |= others.pmix;
  if (!all.pmi) all.pmi = others.pmi;
  return places_of(all);
}

struct Mark {
  pid_t pid = 0;
  Rank rank = 0;
  std::uint32_t size = 0;
  std::vector<Place> places;  // none: there is no mark
};

Mark read_mark() {
  std::istringstream text(std::string(value_of(kJoined).value_or("")));
  Mark mark;
  if (!(text >> mark.pid >> mark.rank >> mark.size)) return {};
  for (Place place; text >> place.inode >> place.text;) mark.places.push_back(place);
  return mark;
}

// A descriptor that a nested launcher has opened anew may have the same number.
bool is_same(const Place& mine, const Place& marked) {
  return mine.text == marked.text && (mine.inode == 0 || mine.inode == marked.inode);
}

// What this process has found, and leaves again.
std::string& mark_above() {
  static std::string mark;
  return mark;
}

}  // namespace

void leave_mark(const Config& config, Rank rank, std::uint32_t size) {
  std::vector<Place> places = all_places(config);
  if (places.empty()) return;
  // What this process has inherited, its children do, too.
  mark_above() = value_of(kJoined).value_or("");
  const Mark above = read_mark();
  places.insert(places.end(), above.places.begin(), above.places.end());
  std::string mark =
      std::to_string(getpid()) + " " + std::to_string(rank) + " " + std::to_string(size);
  for (const Place& place : places) mark += " " + std::to_string(place.inode) + " " + place.text;
  setenv(std::string(kJoined).c_str(), mark.c_str(), 1);
}

void remove_mark() {
  const Mark mark = read_mark();
  if (mark.pid != getpid()) return;
  if (mark_above().empty()) {
    unsetenv(std::string(kJoined).c_str());
  } else {
    setenv(std::string(kJoined).c_str(), mark_above().c_str(), 1);
  }
}

std::string settle_launcher(Config& config) {
  const Mark mark = read_mark();
  const std::vector<Place> mine = places_of(config);
  if (mine.empty() || mark.places.empty() || mark.pid == getpid()) return "";
  const auto is_inherited = [&](const Place& place) {
    return std::ranges::any_of(mark.places,
                               [&](const Place& marked) { return is_same(place, marked); });
  };
  if (!std::ranges::all_of(mine, is_inherited)) {
    for (const Place& place : mine) {
      if (is_inherited(place)) place.drop(config);
    }
    return "";
  }
  // A job of one that starts a program as one more is nothing that waits for ever.
  if (mark.size == 1) return "";
  const std::string launcher = mine.front().text.substr(0, mine.front().text.find(':'));
  return "process " + std::to_string(getpid()) + " is no rank of a job: process " +
         std::to_string(mark.pid) + ", which is rank " + std::to_string(mark.rank) +
         ", has started it, so it inherits what was set for that one (" + launcher +
         "); start it with splitcrun -n 1, or with a launcher of its own";
}

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
