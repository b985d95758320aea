// The network interfaces of this machine, as far as the choice of one needs them.
#pragma once

#include <iosfwd>
#include <set>
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

}  // namespace rdma
