#include "am/job/config/joined.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "am/job/config/variables.h"

namespace am {
namespace {

// Which process of which job the environment describes.
struct Place {
  std::string text;         // without blanks; "": of none
  std::uint64_t inode = 0;  // of the descriptor to the launcher; 0: none is open
};

std::uint64_t inode_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

// As make_bootstrap() chooses.
Place place_of(const Config& config) {
  const std::string rank = std::to_string(config.rank);
  if (config.job_fd >= 0) return {"splitcrun:" + rank, inode_of(config.job_fd)};
  if (config.rendezvous) {
    return {"rendezvous:" + config.rendezvous->host + ":" + config.rendezvous->port + ":" + rank};
  }
  if (config.pmix) {
    const std::string name(value_of("PMIX_NAMESPACE").value_or(""));
    return {"PMIx:" + name + ":" + std::string(value_of("PMIX_RANK").value_or(""))};
  }
  if (config.pmi) {
    return {"PMI-1:" + std::to_string(config.pmi->fd) + ":" + std::to_string(config.pmi->rank),
            inode_of(config.pmi->fd)};
  }
  return {};
}

}  // namespace

void leave_mark(const Config& config, Rank rank) {
  const Place place = place_of(config);
  if (place.text.empty()) return;
  const std::string mark = std::to_string(getpid()) + " " + std::to_string(rank) + " " +
                           std::to_string(place.inode) + " " + place.text;
  setenv(std::string(kJoined).c_str(), mark.c_str(), 1);
}

void remove_mark() { unsetenv(std::string(kJoined).c_str()); }

std::string refusal_by_mark(const Config& config) {
  const Place mine = place_of(config);
  std::istringstream mark(std::string(value_of(kJoined).value_or("")));
  pid_t pid = 0;
  Rank rank = 0;
  Place marked;
  if (mine.text.empty() || !(mark >> pid >> rank >> marked.inode >> marked.text)) return "";
  if (pid == getpid() || marked.text != mine.text) return "";
  // One that a nested launcher has opened anew may have the same number.
  if (mine.inode != 0 && mine.inode != marked.inode) return "";
  const std::string launcher = mine.text.substr(0, mine.text.find(':'));
  return "process " + std::to_string(getpid()) + " is no rank of a job: process " +
         std::to_string(pid) + ", which is rank " + std::to_string(rank) +
         ", has started it, so it inherits what was set for that one (" + launcher +
         "); start it with splitcrun -n 1, or with a launcher of its own";
}

}  // namespace am
