#include "rdma/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "rdma/interface.h"

namespace rdma {
namespace {

constexpr unsigned kEstablished = 1;  // TCP_ESTABLISHED in the kernel's table

// "0100007F:10E1": words in the order of the machine, then the port as a number.
SocketAddress parse_address(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon != 8 && colon != 32) return {};
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < colon / 8; ++i) {
    if (std::sscanf(text.c_str() + 8 * i, "%8x", &words[i]) != 1) return {};
  }
  unsigned port = 0;
  if (std::sscanf(text.c_str() + colon + 1, "%x", &port) != 1) return {};
  const bool mapped = colon == 32 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff);
  const void* const bits = mapped ? &words[3] : words.data();
  std::array<char, INET6_ADDRSTRLEN> address{};
  inet_ntop(colon == 8 || mapped ? AF_INET : AF_INET6, bits, address.data(), address.size());
  return {address.data(), static_cast<std::uint16_t>(port)};
}

}  // namespace

std::string to_string(const SocketAddress& address) {
  const bool brackets = address.address.find(':') != std::string::npos;
  return (brackets ? "[" + address.address + "]" : address.address) + ":" +
         std::to_string(address.port);
}

SocketAddress socket_address(std::span<const std::byte> provider_address) {
  sockaddr_storage any{};
  if (provider_address.size() < sizeof(sockaddr_in)) return {};
  std::memcpy(&any, provider_address.data(), std::min(provider_address.size(), sizeof any));
  if (any.ss_family == AF_INET) {
    return {address_text(&any), ntohs(reinterpret_cast<const sockaddr_in&>(any).sin_port)};
  }
  if (any.ss_family == AF_INET6 && provider_address.size() >= sizeof(sockaddr_in6)) {
    return {address_text(&any), ntohs(reinterpret_cast<const sockaddr_in6&>(any).sin6_port)};
  }
  return {};
}

std::vector<TcpSocket> parse_tcp_table(std::istream& table) {
  std::vector<TcpSocket> sockets;
  for (std::string line; std::getline(table, line);) {
    // number, local, remote, state (hexadecimal), queues, timer, retransmits, user, ...
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmits;
    std::uint32_t user = 0;
    if (!(fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user)) {
      continue;
    }
    TcpSocket one{.local = parse_address(local),
                  .remote = parse_address(remote),
                  .user = user,
                  .established = std::strtoul(state.c_str(), nullptr, 16) == kEstablished};
    if (!one.local.address.empty()) sockets.push_back(std::move(one));
  }
  return sockets;
}

std::vector<std::string> strangers(std::span<const TcpSocket> table, const SocketAddress& own,
                                   std::span<const SocketAddress> job, std::uint32_t user) {
  std::vector<std::string> found;
  std::set<SocketAddress> seen;  // a table that changes while it is read shows a row twice
  for (const TcpSocket& one : table) {
    if (!one.established || one.local != own) continue;
    if (!seen.insert(one.remote).second) continue;
    if (std::ranges::find(job, one.remote.address, &SocketAddress::address) == job.end()) {
      found.push_back(to_string(one.remote));
      continue;
    }
    const auto other_end = std::ranges::find_if(table, [&](const TcpSocket& other) {
      return other.local == one.remote && other.remote == one.local;
    });
    if (other_end != table.end() && other_end->user != user) {
      found.push_back(to_string(one.remote) + " (user " + std::to_string(other_end->user) + ")");
    }
  }
  return found;
}

std::vector<std::string> strangers_now(const SocketAddress& own,
                                       std::span<const SocketAddress> job) {
  std::vector<TcpSocket> all;
  for (const char* name : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream table(name);
    for (TcpSocket& one : parse_tcp_table(table)) all.push_back(std::move(one));
  }
  return strangers(all, own, job, geteuid());
}

}  // namespace rdma
