#include "am/route/process_stat.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace am {
namespace {

namespace fs = std::filesystem;

// "4711 (name) S 4700 ...": the name, of at most 64 characters, may hold anything, also ") S 1".
std::optional<ProcessStat> read_stat(const char* path) noexcept {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::array<char, 1024> text{};
  const ssize_t got = read(fd, text.data(), text.size() - 1);  // a 0 behind
  close(fd);
  if (got <= 0) return std::nullopt;
  const std::size_t name_end = std::string_view(text.data()).rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  ProcessStat stat{};
  // The flags are the 9th field, times in the program and in the kernel the 14th and 15th, pages
  // the 24th, and the pending signals the 31st.
  unsigned long in_kernel = 0;
  if (std::sscanf(
          text.data() + name_end + 1,
          " %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %lu %lu %*s %*s %*s %*s %*s %*s %*s %*s "
          "%lu %*s %*s %*s %*s %*s %*s %lu",
          &stat.state, &stat.parent, &stat.flags, &stat.cpu_ticks, &in_kernel, &stat.resident_pages,
          &stat.pending_signals) != 7) {
    return std::nullopt;
  }
  stat.cpu_ticks += in_kernel;
  return stat;
}

// On its way out a thread has closed its files, but is no zombie yet: PF_EXITING of the kernel.
bool is_ending(const ProcessStat& thread) noexcept {
  constexpr unsigned kExiting = 4;
  return thread.state == 'Z' || thread.state == 'X' || (thread.flags & kExiting) != 0;
}

// When a process ends, the kernel kills each of its threads.
bool is_killed(const ProcessStat& thread) noexcept {
  return (thread.pending_signals >> (SIGKILL - 1) & 1) != 0;
}

bool has_living_thread(pid_t pid) noexcept {
  std::error_code error;
  const std::string threads = "/proc/" + std::to_string(pid) + "/task";
  for (fs::directory_iterator one(threads, error), end; !error && one != end;
       one.increment(error)) {
    const auto stat = read_stat((one->path() / "stat").c_str());
    if (stat && !is_ending(*stat) && !is_killed(*stat)) return true;
  }
  return false;
}

}  // namespace

std::optional<ProcessStat> read_process_stat(pid_t pid) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  return read_stat(path.data());
}

bool has_ended(pid_t pid) noexcept {
  const std::optional<ProcessStat> stat = read_process_stat(pid);
  if (!stat) return kill(pid, 0) != 0 && errno == ESRCH;
  return is_ending(*stat) && !has_living_thread(pid);
}

}  // namespace am
