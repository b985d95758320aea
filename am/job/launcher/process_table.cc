#include "am/job/launcher/process_table.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace am::launcher {
namespace {

// The parent of process `pid`, or -1 when it is gone.
pid_t parent_of(const char* pid) {
  std::ifstream file(std::string("/proc/") + pid + "/stat");
  std::string text;  // "4711 (name) S 4700 ..."
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(')');  // a name may hold anything, also ")\n S 1"
  if (name_end == std::string::npos) return -1;
  int parent = -1;
  return std::sscanf(text.c_str() + name_end + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

}  // namespace

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return found;
  while (const dirent* entry = readdir(processes)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0 && parent_of(entry->d_name) == getpid()) found.push_back(pid);
  }
  closedir(processes);
  return found;
}

}  // namespace am::launcher
