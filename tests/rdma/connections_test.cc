#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

#include "rdma/interface.h"

namespace rdma {
namespace {

// As Linux on x86-64 writes it: 127.0.0.1:4321, [::1]:4321, and IPv4 in IPv6.
constexpr const char* kTable4 =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
    "   0: 0100007F:10E1 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1\n"
    "   1: 0100007F:10E1 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 2\n"
    "   2: 0100007F:9C40 0100007F:10E1 01 00000000:00000000 00:00000000 00000000   77        0 3\n"
    "   3: 0100007F:10E1 0100007F:9C41 01 00000000:00000000 00:00000000 00000000  1000        0 4\n"
    "   4: 0100007F:9C41 0100007F:10E1 01 00000000:00000000 00:00000000 00000000  1000        0 5\n"
    "   5: 0100007F:10E1 070200C0:9C42 01 00000000:00000000 00:00000000 00000000  1000        0 6\n"
    "   6: 0100007F:10E1 070200C0:9C43 06 00000000:00000000 00:00000000 00000000  1000        0 7\n"
    "garbage\n";
constexpr const char* kTable6 =
    "  sl  local_address                         remote_address                        st\n"
    "   0: 00000000000000000000000001000000:10E1 00000000000000000000000001000000:9C40 01 "
    "00000000:00000000 00:00000000 00000000 1000 0 1\n"
    "   1: 0000000000000000FFFF00000100007F:10E1 0000000000000000FFFF0000070200C0:9C44 01 "
    "00000000:00000000 00:00000000 00000000 1000 0 1\n";

std::vector<TcpSocket> parse(const char* text) {
  std::istringstream table(text);
  return parse_tcp_table(table);
}

TEST(TcpTable, of_ipv4_is_read_row_by_row) {
  const auto rows = parse(kTable4);
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0], (TcpSocket{{"127.0.0.1", 4321}, {"0.0.0.0", 0}, 1000, false}));
  EXPECT_EQ(rows[2], (TcpSocket{{"127.0.0.1", 40000}, {"127.0.0.1", 4321}, 77, true}));
}

TEST(TcpTable, of_ipv6_holds_ipv4_too) {
  const auto rows = parse(kTable6);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].local, (SocketAddress{"::1", 4321}));
  EXPECT_EQ(rows[1].remote, (SocketAddress{"192.0.2.7", 40004}));
  EXPECT_EQ(to_string(rows[0].local), "[::1]:4321");
}

TEST(StrangersIn, a_table_are_other_machines_and_other_users) {
  const SocketAddress own{"127.0.0.1", 4321};
  const std::vector<SocketAddress> job = {own, {"127.0.0.1", 5000}};
  EXPECT_EQ(strangers(parse(kTable4), own, job, 1000),
            (std::vector<std::string>{"127.0.0.1:40000 (user 77)", "192.0.2.7:40002"}));
}

TEST(StrangersIn, a_table_are_none_of_the_job) {
  const SocketAddress own{"127.0.0.1", 4321};
  const std::vector<SocketAddress> job = {own, {"192.0.2.7", 5000}};
  EXPECT_EQ(strangers(parse(kTable4), own, job, 1000),
            std::vector<std::string>{"127.0.0.1:40000 (user 77)"});
}

// A socket that listens at an address of this machine, or is connected to one.
class Socket {
 public:
  Socket() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, any(), sizeof address_), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
    note_address();
  }
  explicit Socket(const Socket& listening) : address_(listening.address_) {
    EXPECT_EQ(connect(fd_, any(), sizeof address_), 0);
    note_address();
  }
  ~Socket() { close(fd_); }
  Socket& operator=(const Socket&) = delete;

  SocketAddress address() const { return socket_address(std::as_bytes(std::span(&address_, 1))); }

 private:
  sockaddr* any() { return reinterpret_cast<sockaddr*>(&address_); }
  void note_address() {
    socklen_t bytes = sizeof address_;
    EXPECT_EQ(getsockname(fd_, any(), &bytes), 0);
  }

  const int fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address_{};
};

TEST(StrangersIn, the_systems_own_table_are_found) {
  const Socket listening;
  const Socket other(listening);
  const SocketAddress own = listening.address();
  EXPECT_EQ(own.address, "127.0.0.1");
  EXPECT_EQ(strangers_now(own, std::vector<SocketAddress>{{"192.0.2.1", 1}}),
            std::vector<std::string>{to_string(other.address())});
  EXPECT_EQ(strangers_now(own, std::vector<SocketAddress>{{"127.0.0.1", 1}}),
            std::vector<std::string>{})
      << "of the same user";
}

TEST(StrangersIn, a_table_with_the_same_row_twice_are_named_once) {
  const SocketAddress own{"127.0.0.1", 4321};
  std::vector<TcpSocket> table = parse(kTable4);
  table.insert(table.end(), table.begin(), table.begin() + 6);
  EXPECT_EQ(strangers(table, own, std::vector<SocketAddress>{{"127.0.0.1", 5000}}, 1000),
            (std::vector<std::string>{"127.0.0.1:40000 (user 77)", "192.0.2.7:40002"}));
}

TEST(SocketAddressOf, other_providers_is_none) {
  const std::vector<std::byte> bytes(64, std::byte{0x41});
  EXPECT_EQ(socket_address(bytes), SocketAddress{});
  EXPECT_EQ(socket_address({}), SocketAddress{});
}

}  // namespace
}  // namespace rdma
