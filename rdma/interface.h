// The network of this machine as the system shows it: its interfaces, as far as the choice of one
// needs them, and who is connected to a port of this process, for reports about strangers.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace rdma {

struct Interface {
  std::string name = {};
  std::vector<std::string> addresses = {};  // IPv4 and IPv6, as text
  bool up = false;                          // switched on, and has a carrier
  bool loopback = false;
  bool default_route = false;  // leads to the rest of the world
  std::string kind = {};  // "a bridge" and the like, which are never chosen by default; else ""

  bool operator==(const Interface&) const = default;
};

// All of them, sorted by name. Throws Error when the system does not list them.
std::vector<Interface> interfaces();

// "a bridge", "a container's" ... for what as a rule reaches nobody on other machines; else "".
std::string virtual_kind(const std::string& name, bool is_bridge);

// The text of an IPv4 or IPv6 address (a sockaddr), "" for any other family.
std::string address_text(const void* sockaddr);

// Whether `address` lies in `subnet` ("192.0.2.0/24"; without a length: is that address). False
// when one of them is not an address.
bool in_subnet(const std::string& address, const std::string& subnet);

// Interfaces with a default route, from the text of /proc/net/route or /proc/net/ipv6_route.
std::set<std::string> default_routes(std::istream& routes);

// 127.0.0.0/8 and ::1: of this machine only.
bool loopback(const std::string& address);

// fe80::/10 and 169.254.0.0/16: valid on one wire only.
bool link_local(const std::string& address);

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
