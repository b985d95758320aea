#include "benchmarks/scale_sweep.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "benchmarks/support/clock.h"

namespace bench {
namespace {

constexpr unsigned kMostNodes = 64;
constexpr const char* kTimeout = "600";  // seconds

std::string text_of(const Size& size) {
  return std::to_string(size.processes) + " processes on " + std::to_string(size.nodes) +
         (size.nodes == 1 ? " node" : " nodes");
}

// In the child: becomes the launcher of a job of its own.
[[noreturn]] void become(const std::string& launcher, const Size& size, int reps, int output) {
  for (const char* name : {"SPLITC_JOB_FD", "SPLITC_RANK", "SPLITC_SIZE", "SPLITC_NODE"}) {
    unsetenv(name);
  }
  setenv("SPLITC_SEGMENT", "4M", 0);
  setenv("SPLITC_STALL", "0", 0);  // many processes on few cores stand still for long
  dup2(output, STDOUT_FILENO);
  const std::string processes = std::to_string(size.processes);
  const std::string nodes = std::to_string(size.nodes);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string since = std::to_string(static_cast<long long>(now_ns()));
  const std::string times = std::to_string(reps);
  execl(launcher.c_str(), launcher.c_str(), "-n", processes.c_str(), "--nodes", nodes.c_str(),
        "--timeout", kTimeout, program.c_str(), "--measure", since.c_str(), times.c_str(),
        static_cast<char*>(nullptr));
  std::perror(launcher.c_str());
  _exit(127);
}

// All that the job of `size` prints.
std::string output_of(const std::string& launcher, const Size& size, int reps) {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe for a job");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process for a job");
  if (child == 0) become(launcher, size, reps, ends[1]);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) {
    throw std::runtime_error("the job of " + text_of(size) +
                             " failed; measure fewer (--quick, or "
                             "no --full), or raise the limits it names");
  }
  return text;
}

}  // namespace

std::vector<Size> sizes_up_to(unsigned most) {
  std::vector<Size> sizes;
  for (unsigned processes = 2; processes <= most; processes *= 2) {
    sizes.push_back({processes, 1});
    const unsigned apart = std::min(processes, kMostNodes);
    if (processes >= 16)
      sizes.push_back({processes, processes / 8 > kMostNodes ? 16 : processes / 8});
    sizes.push_back({processes, apart});
  }
  return sizes;
}

std::string launcher_of_this() {
  std::error_code unknown;
  const auto path =
      std::filesystem::read_symlink("/proc/" + std::to_string(getppid()) + "/exe", unknown);
  if (path.filename() == "splitcrun") return path.string();
  throw std::runtime_error(
      "this program starts jobs by the launcher that has started it; start it with splitcrun -n 2");
}

std::vector<ScaleRun> run_all(const std::string& launcher, const std::vector<Size>& sizes,
                              int reps) {
  std::vector<ScaleRun> runs;
  for (const Size& size : sizes) {
    std::fprintf(stderr, "job %zu of %zu: %s\n", runs.size() + 1, sizes.size(),
                 text_of(size).c_str());
    std::istringstream lines(output_of(launcher, size, reps));
    ScaleRun run{size, {}};
    double value = 0;
    for (std::string name; lines >> name >> value;) run.figures[name] = value;
    if (run.figures.empty()) {
      throw std::runtime_error("the job of " + text_of(size) + " printed no figures");
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace bench
