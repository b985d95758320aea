#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "rdma/process.h"

namespace rdma {
namespace {

int option(int socket, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  EXPECT_EQ(getsockopt(socket, SOL_SOCKET, name, &value, &length), 0);
  return value;
}

// Two ends of a TCP connection on loopback, and who listened.
struct Connection {
  Connection() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    EXPECT_EQ(bind(listener, raw, length), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, raw, &length), 0);
    EXPECT_EQ(connect(client, raw, length), 0);
    server = accept(listener, nullptr, nullptr);
    EXPECT_GE(server, 0);
  }
  ~Connection() {
    for (const int fd : {listener, client, server}) close(fd);
  }

  int listener = socket(AF_INET, SOCK_STREAM, 0);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  int server = -1;
};

TEST(ReceiveWindow, becomes_wider_at_both_ends_of_a_connection) {
  const Connection connection;
  const int before = option(connection.server, SO_RCVBUF);
  widen_receive_windows();
  for (const int fd : {connection.client, connection.server}) {
    EXPECT_GT(option(fd, SO_RCVBUF), before);
    EXPECT_GE(option(fd, SO_RCVBUF), 1 << 20);
  }
}

TEST(ReceiveWindow, is_all_that_changes) {
  const Connection connection;
  const int eight = 8;
  ASSERT_EQ(setsockopt(connection.server, SOL_SOCKET, SO_RCVLOWAT, &eight, sizeof eight), 0);
  const int other = socket(AF_UNIX, SOCK_STREAM, 0);
  const std::vector<int> before = {option(connection.listener, SO_RCVBUF),
                                   option(other, SO_RCVBUF)};
  widen_receive_windows();
  EXPECT_EQ(option(connection.server, SO_RCVLOWAT), 8);
  EXPECT_EQ(option(connection.client, SO_RCVLOWAT), 1);
  EXPECT_EQ(before,
            (std::vector<int>{option(connection.listener, SO_RCVBUF), option(other, SO_RCVBUF)}));
  close(other);
}

// What the provider sockets does: it looks for a header of 48 bytes, and takes nothing before.
TEST(ReceiveWindow, lets_come_what_follows_bytes_that_stay_unread) {
  constexpr std::size_t kBytes = 8 << 20;
  constexpr std::size_t kHeader = 48;
  const Connection connection;
  std::vector<std::byte> bytes(1 << 20);
  std::size_t sent = 0, received = 0;
  while (received < kBytes) {
    const ssize_t written =
        send(connection.client, bytes.data(), std::min(bytes.size(), kBytes - sent), MSG_DONTWAIT);
    if (written > 0) sent += static_cast<std::size_t>(written);
    widen_receive_windows();
    const ssize_t there =
        recv(connection.server, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    const auto seen = there > 0 ? static_cast<std::size_t>(there) : 0;
    if (seen < kHeader && received + seen < kBytes) continue;
    const std::size_t left = received + seen < kBytes ? 8 : 0;
    const ssize_t taken = recv(connection.server, bytes.data(), seen - left, MSG_DONTWAIT);
    ASSERT_EQ(taken, static_cast<ssize_t>(seen - left));
    received += seen - left;
  }
  EXPECT_EQ(received, kBytes);
}

}  // namespace
}  // namespace rdma
