#include "rdma/receive_window.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace rdma {
namespace {

constexpr int kEnough =
    2 << 20;  // bytes: several segments of loopback, however the kernel counts them

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
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc/self/fd", error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (is_connected_tcp(fd) && option(fd, SO_RCVBUF) < kEnough) widen(fd);
  }
}

}  // namespace rdma
