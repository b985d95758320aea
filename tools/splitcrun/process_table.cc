#include "tools/splitcrun/process_table.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "am/route/process_stat.h"

namespace am::launcher {
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return found;
  while (const dirent* entry = readdir(processes)) {
    const pid_t pid = std::atoi(entry->d_name);
    const auto stat = pid > 0 ? read_process_stat(pid) : std::nullopt;
    if (stat && stat->parent == getpid()) found.push_back(pid);
  }
  closedir(processes);
  return found;
}

}  // namespace am::launcher
