#include "am/job/stall/process_stat.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace am {

std::optional<ProcessStat> read_process_stat(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;  // "4711 (name) S 4700 ..."
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(')');  // a name may hold anything, also ")\n S 1"
  if (name_end == std::string::npos) return std::nullopt;
  ProcessStat stat{};
  if (std::sscanf(text.c_str() + name_end + 1, " %c %d", &stat.state, &stat.parent) != 2) {
    return std::nullopt;
  }
  return stat;
}

}  // namespace am
