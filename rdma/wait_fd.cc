#include "rdma/wait_fd.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

namespace rdma {
namespace {

bool is_epoll(int fd) {
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return readlink(link.c_str(), target.data(), target.size() - 1) > 0 &&
         std::string(target.data()) == "anon_inode:[eventpoll]";
}

}  // namespace

int quiet_wait_fd(const Fabric& fabric, int fd) {
  if (fabric.candidate().provider != "net") return fd;
  std::ifstream watched("/proc/self/fdinfo/" + std::to_string(fd));  // "tfd: 7 events: ..."
  for (std::string word; watched >> word;) {
    int inner = -1;
    if (word == "tfd:" && watched >> inner && is_epoll(inner)) return inner;
  }
  return fd;
}

}  // namespace rdma
