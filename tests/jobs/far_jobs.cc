#include "tests/jobs/far_jobs.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <sstream>

#include "tests/support/free_port.h"

namespace am::test {

Words on_two_nodes(int processes, const std::string& provider, const Words& command) {
  Words words{"env", "SPLITC_PROVIDER=" + provider, kSplitcrun,
              "-n",  std::to_string(processes),     "--nodes",
              "2"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::map<int, pid_t> pids_in(const std::string& output) {
  std::map<int, pid_t> pids;
  for (const std::string& line : lines_of(output)) {
    int rank = 0;
    pid_t pid = 0;
    if (std::istringstream(line) >> rank >> pid) pids[rank] = pid;
  }
  return pids;
}

std::set<std::string> shared_memory_files() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    // Of libfabric's provider shm, which others on this machine may be using.
    const bool of_provider = name.find_first_not_of("0123456789:") == std::string::npos;
    if (!of_provider) names.insert(name);
  }
  return names;
}

void let_pass(std::mt19937_64& random) {
  const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(random() % 30'000'000)};
  ppoll(nullptr, 0, &time, nullptr);
}

void expect_gone(const std::map<int, pid_t>& processes) {
  for (const auto& [rank, pid] : processes) {
    EXPECT_TRUE(kill(pid, 0) != 0 && errno == ESRCH) << "rank " << rank << " is left";
  }
}

Meeting::Meeting(const std::string& provider, const Words& command) : processes_(kSize) {
  const std::string port = std::to_string(::test::free_port());
  for (int rank = kSize - 1; rank >= 0; --rank) {
    Words words{"env",
                "SPLITC_RENDEZVOUS=localhost:" + port,
                "SPLITC_SECRET=known to the test",
                "SPLITC_SIZE=" + std::to_string(kSize),
                "SPLITC_RANK=" + std::to_string(rank),
                "SPLITC_NODE=" + std::to_string(rank / 2),
                "SPLITC_PROVIDER=" + provider};
    words.insert(words.end(), command.begin(), command.end());
    processes_[static_cast<std::size_t>(rank)] = std::make_unique<Program>(words);
  }
}

}  // namespace am::test
