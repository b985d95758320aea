#include "am/route/deaths.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

namespace am {

// "4711 (name of the program) S ...": the name may hold anything, so the last ")" counts.
bool has_ended(pid_t pid) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT;
  std::array<char, 256> text{};
  const ssize_t got = read(fd, text.data(), text.size() - 1);  // a 0 behind
  const int error = errno;
  close(fd);
  if (got <= 0) return got == 0 || error == ESRCH;
  const std::string_view line(text.data(), static_cast<std::size_t>(got));
  const std::size_t end = line.rfind(") ");
  if (end == std::string_view::npos || end + 2 >= line.size()) return false;
  // On its way out it has closed its files, but is no zombie yet: PF_EXITING of the kernel.
  constexpr unsigned kExiting = 4;
  char state = 0;
  unsigned flags = 0;
  if (std::sscanf(line.data() + end + 2, "%c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
    return false;
  return state == 'Z' || state == 'X' || (flags & kExiting) != 0;
}

}  // namespace am
