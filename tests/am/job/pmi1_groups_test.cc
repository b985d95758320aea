// Jobs of so many processes that they read what others have put together, under a launcher that
// serves them all.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "am/job/bootstrap/launchers.h"
#include "tests/am/job/fake_launcher.h"
#include "tests/shmem/in_child.h"

namespace am {
namespace pmi1_groups_test {

using shmem::test::in_children;
using test::field;

// Serves all processes until each has said goodbye or gone.
class Launcher {
 public:
  explicit Launcher(std::uint32_t size) : lines_(size) {
    for (std::uint32_t i = 0; i < size; ++i) {
      std::array<int, 2> ends;
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
      servers_.push_back(ends[0]);
      clients_.push_back(ends[1]);
    }
  }
  ~Launcher() {
    for (const int fd : servers_) close(fd);
    for (const int fd : clients_) close(fd);
  }
  Launcher(const Launcher&) = delete;

  PmiConnection connection(Rank rank) const {
    return {
        .rank = rank, .size = static_cast<std::uint32_t>(clients_.size()), .fd = clients_[rank]};
  }

  // How many questions for a value there were.
  std::size_t serve() {
    for (int& fd : clients_) close(std::exchange(fd, -1));
    while (left_ < servers_.size()) {
      std::vector<pollfd> watched;
      for (const int fd : servers_) watched.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      poll(watched.data(), watched.size(), -1);
      for (std::size_t i = 0; i < watched.size(); ++i) {
        if (watched[i].revents != 0) hear(i);
      }
    }
    return gets_;
  }

 private:
  void hear(std::size_t who) {
    std::array<char, 4096> buffer;
    const ssize_t got = recv(servers_[who], buffer.data(), buffer.size(), 0);
    if (got <= 0) return leave(who);
    lines_[who].append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end; (end = lines_[who].find('\n')) != std::string::npos;) {
      const std::string line = lines_[who].substr(0, end);
      lines_[who].erase(0, end + 1);
      answer(who, line);
    }
  }

  void leave(std::size_t who) {
    close(std::exchange(servers_[who], -1));
    ++left_;
  }

  void answer(std::size_t who, const std::string& line) {
    const std::string command = field(line, "cmd");
    if (command == "init") say(who, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    if (command == "get_maxes") say(who, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024");
    if (command == "get_my_kvsname") say(who, "cmd=my_kvsname kvsname=kvs");
    if (command == "put") {
      values_[field(line, "key")] = field(line, "value");
      say(who, "cmd=put_result rc=0");
    }
    if (command == "get") {
      ++gets_;
      const auto value = values_.find(field(line, "key"));
      say(who, value == values_.end() ? "cmd=get_result rc=-1"
                                      : "cmd=get_result rc=0 value=" + value->second);
    }
    if (command == "barrier_in" && ++waiting_ == servers_.size()) {
      waiting_ = 0;
      for (std::size_t i = 0; i < servers_.size(); ++i) say(i, "cmd=barrier_out");
    }
    if (command == "finalize") say(who, "cmd=finalize_ack");
  }

  void say(std::size_t who, const std::string& line) {
    const std::string text = line + "\n";
    (void)!send(servers_[who], text.data(), text.size(), MSG_NOSIGNAL);
  }

  std::vector<int> servers_, clients_;
  std::vector<std::string> lines_;  // what has come of each
  std::map<std::string, std::string> values_;
  std::size_t waiting_ = 0, left_ = 0, gets_ = 0;
};

// What rank `rank` gives in a round: much that is the same in all, and something of its own. In
// round 2 nothing is the same.
std::vector<std::byte> blob_of(Rank rank, unsigned round) {
  std::vector<std::byte> blob(round == 0 ? 216 : rank * 31 % 513, std::byte{7});
  for (std::size_t i = 0; i < blob.size(); i += round == 2 ? 1 : 50) {
    blob[i] = static_cast<std::byte>(rank * (i + 3));
  }
  return blob;
}

// Shows the launcher the end of this process: closing does not, as each child has the ends of all.
struct Leaving {
  explicit Leaving(int fd) : fd(fd) {}
  ~Leaving() { shutdown(fd, SHUT_RDWR); }
  Leaving(const Leaving&) = delete;
  const int fd;
};

// How many values were asked for by a job of `size`.
std::size_t exchange_in_job_of(std::uint32_t size) {
  Launcher launcher(size);
  const auto results = in_children(size + 1, [&](unsigned who) -> std::string {
    if (who == size) return std::to_string(launcher.serve());
    const Leaving leaving(launcher.connection(who).fd);
    const auto job = join_pmi1(launcher.connection(who));
    for (unsigned round = 0; round < 3; ++round) {
      const auto all = job->exchange(blob_of(who, round));
      if (all.size() != size) return "not all";
      for (Rank rank = 0; rank < size; ++rank) {
        if (all[rank] != blob_of(rank, round)) return "wrong";
      }
    }
    job->finished();
    return "right";
  });
  for (std::uint32_t rank = 0; rank < size; ++rank) EXPECT_EQ(results[rank], "right") << rank;
  return static_cast<std::size_t>(std::strtoul(results[size].c_str(), nullptr, 10));
}

TEST(BootstrapPmi1Groups, small_jobs_read_what_each_has_put) {
  EXPECT_GE(exchange_in_job_of(16), 3u * 16 * 16);
}

TEST(BootstrapPmi1Groups, larger_jobs_read_what_was_put_together) {
  for (const std::uint32_t size : {17u, 64u, 65u, 130u}) {
    // Each would read 3 or 4 values of each other.
    EXPECT_LT(exchange_in_job_of(size), std::size_t{size} * size) << size;
  }
}

}  // namespace pmi1_groups_test
}  // namespace am
