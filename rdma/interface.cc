#include "rdma/interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>

#include "rdma/error.h"

namespace rdma {
namespace {

struct Bits {
  std::array<unsigned char, 16> bytes{};
  int count = 0;  // 32 or 128; 0: not an address
};

Bits parse(const std::string& text) {
  Bits bits;
  if (inet_pton(AF_INET, text.c_str(), bits.bytes.data()) == 1) {
    bits.count = 32;
  } else if (inet_pton(AF_INET6, text.c_str(), bits.bytes.data()) == 1) {
    bits.count = 128;
  }
  return bits;
}

bool same_prefix(const Bits& a, const Bits& b, int length) {
  if (a.count == 0 || a.count != b.count || length < 0 || length > a.count) return false;
  for (int i = 0; i < length; ++i) {
    const int shift = 7 - i % 8;
    const auto at = static_cast<std::size_t>(i / 8);
    if ((a.bytes[at] >> shift & 1) != (b.bytes[at] >> shift & 1)) return false;
  }
  return true;
}

std::set<std::string> read_default_routes() {
  std::ifstream ipv4("/proc/net/route");
  std::ifstream ipv6("/proc/net/ipv6_route");
  std::set<std::string> all = default_routes(ipv4);
  all.merge(default_routes(ipv6));
  return all;
}

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

std::vector<Interface> interfaces() {
  ifaddrs* raw = nullptr;
  if (getifaddrs(&raw) != 0) {
    throw Error(std::string("rdma: cannot list the network interfaces (") + std::strerror(errno) +
                ")");
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(raw, freeifaddrs);
  std::map<std::string, Interface> found;
  for (const ifaddrs* entry = raw; entry != nullptr; entry = entry->ifa_next) {
    Interface& one = found[entry->ifa_name];
    one.name = entry->ifa_name;
    one.up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
    one.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    const std::string address = entry->ifa_addr != nullptr ? address_text(entry->ifa_addr) : "";
    if (!address.empty()) one.addresses.push_back(address);
  }
  const std::set<std::string> ways_out = read_default_routes();
  std::vector<Interface> all;
  for (auto& [name, one] : found) {
    std::error_code ignored;
    const bool bridge = std::filesystem::exists("/sys/class/net/" + name + "/bridge", ignored);
    one.kind = virtual_kind(name, bridge);
    one.default_route = ways_out.contains(name);
    all.push_back(std::move(one));
  }
  return all;
}

std::string virtual_kind(const std::string& name, bool is_bridge) {
  struct Kind {
    std::string_view prefix, text;
  };
  static constexpr Kind kKinds[] = {
      {"docker", "a container bridge"},
      {"br-", "a container bridge"},
      {"podman", "a container bridge"},
      {"lxcbr", "a container bridge"},
      {"lxdbr", "a container bridge"},
      {"virbr", "a bridge of virtual machines"},
      {"vnet", "a virtual machine's"},
      {"vmnet", "a virtual machine's"},
      {"vboxnet", "a virtual machine's"},
      {"veth", "a container's"},
      {"cali", "a container's"},
      {"lxc", "a container's"},
      {"cni", "a container network"},
      {"flannel", "a container network"},
      {"cilium", "a container network"},
      {"weave", "a container network"},
      {"kube", "a container network"},
      {"ifb", "a traffic shaper's"},
      {"dummy", "a dummy"},
  };
  for (const Kind& kind : kKinds) {
    if (name.starts_with(kind.prefix)) return std::string(kind.text);
  }
  return is_bridge ? "a bridge" : "";
}

std::string address_text(const void* sockaddr_bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto* any = static_cast<const sockaddr*>(sockaddr_bytes);
  const void* bits = nullptr;
  if (any->sa_family == AF_INET) {
    bits = &static_cast<const sockaddr_in*>(sockaddr_bytes)->sin_addr;
  } else if (any->sa_family == AF_INET6) {
    bits = &static_cast<const sockaddr_in6*>(sockaddr_bytes)->sin6_addr;
  } else {
    return "";
  }
  inet_ntop(any->sa_family, bits, text.data(), text.size());
  return text.data();
}

bool in_subnet(const std::string& address, const std::string& subnet) {
  const std::size_t slash = std::min(subnet.find('/'), subnet.size());
  const Bits prefix = parse(subnet.substr(0, slash));
  int length = prefix.count;
  if (slash < subnet.size()) {
    const char* end = subnet.data() + subnet.size();
    const auto [at, error] = std::from_chars(subnet.data() + slash + 1, end, length);
    if (error != std::errc{} || at != end) return false;
  }
  return same_prefix(parse(address), prefix, length);
}

std::set<std::string> default_routes(std::istream& routes) {
  std::set<std::string> names;
  for (std::string line; std::getline(routes, line);) {
    std::istringstream fields(line);
    const std::vector<std::string> field{std::istream_iterator<std::string>(fields), {}};
    // IPv4: interface, destination, ..., mask in place 7. IPv6: destination, length, ...,
    // interface.
    if (field.size() == 11 && field[1] == "00000000" && field[7] == "00000000") {
      names.insert(field[0]);
    } else if (field.size() == 10 && field[0] == std::string(32, '0') && field[1] == "00" &&
               field[9] != "lo") {
      names.insert(field[9]);
    }
  }
  return names;
}

bool loopback(const std::string& address) {
  return in_subnet(address, "127.0.0.0/8") || in_subnet(address, "::1");
}

bool link_local(const std::string& address) {
  return in_subnet(address, "fe80::/10") || in_subnet(address, "169.254.0.0/16");
}

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
