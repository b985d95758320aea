// Who is connected to a port of this process, as the system shows it: for reports about strangers.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace rdma {

// An IP address and a port.
struct SocketAddress {
  std::string address = {};  // IPv4 or IPv6 as text; "": none
  std::uint16_t port = 0;

  auto operator<=>(const SocketAddress&) const = default;
};

// "192.0.2.1:4711", "[::1]:4711".
std::string to_string(const SocketAddress& address);

// What a provider gives as the address of an endpoint; without address if it is not a sockaddr of
// IP.
SocketAddress socket_address(std::span<const std::byte> provider_address);

// A row of the system's table of TCP sockets.
struct TcpSocket {
  SocketAddress local, remote;
  std::uint32_t user = 0;
  bool established = false;

  bool operator==(const TcpSocket&) const = default;
};

// The rows of a table in the format of /proc/net/tcp or /proc/net/tcp6. IPv4 in IPv6 is IPv4 here.
std::vector<TcpSocket> parse_tcp_table(std::istream& table);

// Those who are connected to `own` and cannot be of this job: from an address that none of `job`
// has, or, on this machine, with a socket of another user than `user`. As people read it:
// "192.0.2.7:40112", "127.0.0.1:40112 (user 1001)".
std::vector<std::string> strangers(std::span<const TcpSocket> table, const SocketAddress& own,
                                   std::span<const SocketAddress> job, std::uint32_t user);

// The strangers of this process's network namespace and user, as it is now. Empty when the system
// does not show it. Reads the whole table: not for frequent use.
std::vector<std::string> strangers_now(const SocketAddress& own,
                                       std::span<const SocketAddress> job);

}  // namespace rdma
