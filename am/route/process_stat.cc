#include "am/route/process_stat.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

namespace am {

// "4711 (name) S 4700 ...": the name, of at most 64 characters, may hold anything, also ") S 1".
std::optional<ProcessStat> read_process_stat(pid_t pid) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::array<char, 512> text{};
  const ssize_t got = read(fd, text.data(), text.size() - 1);  // a 0 behind
  close(fd);
  if (got <= 0) return std::nullopt;
  const std::size_t name_end = std::string_view(text.data()).rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  ProcessStat stat{};
  // after the parent: group, session, terminal, group of the terminal
  if (std::sscanf(text.data() + name_end + 1, " %c %d %*d %*d %*d %*d %u", &stat.state,
                  &stat.parent, &stat.flags) != 3) {
    return std::nullopt;
  }
  return stat;
}

bool has_ended(pid_t pid) noexcept {
  // On its way out it has closed its files, but is no zombie yet: PF_EXITING of the kernel.
  constexpr unsigned kExiting = 4;
  const std::optional<ProcessStat> stat = read_process_stat(pid);
  if (!stat) return kill(pid, 0) != 0 && errno == ESRCH;
  return stat->state == 'Z' || stat->state == 'X' || (stat->flags & kExiting) != 0;
}

}  // namespace am
