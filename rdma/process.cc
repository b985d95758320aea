#include "rdma/process.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace rdma {
namespace {

// Those of this process that are open now; empty when the system does not say. One of them is gone
// on return: that of the folder that lists them.
std::vector<int> open_descriptors() {
  std::vector<int> open;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), &closedir);
  if (!all) return open;
  while (const dirent* const one = readdir(all.get())) {
    if (one->d_name[0] != '.') open.push_back(std::atoi(one->d_name));
  }
  return open;
}

// Bytes: several segments of loopback, however the kernel counts them.
constexpr int kEnough = 2 << 20;

int option(int socket, int name) noexcept {
  int value = -1;
  socklen_t length = sizeof value;
  return getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

bool is_connected_tcp(int fd) noexcept {
  sockaddr_storage peer;
  socklen_t length = sizeof peer;
  return option(fd, SO_PROTOCOL) == IPPROTO_TCP &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0;
}

// SO_RCVBUF goes no further than net.core.rmem_max, as a rule 208 KiB, and ends the system's own
// tuning. To wait for many bytes makes room for them, and room is not taken back afterwards.
void widen(int socket) noexcept {
  const int before = option(socket, SO_RCVLOWAT);
  if (before < 1) return;
  setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &kEnough, sizeof kEnough);
  setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &before, sizeof before);
}

}  // namespace

void widen_receive_windows() {
  for (const int fd : open_descriptors()) {
    if (is_connected_tcp(fd) && option(fd, SO_RCVBUF) < kEnough) widen(fd);
  }
}

}  // namespace rdma
