// Which provider and network to use, decided from plain facts: nothing here calls libfabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rdma/interface.h"

namespace rdma {

// Equal for two processes that can talk that way: provider and network, hashed. Plain bytes, to be
// exchanged. A key whose network is any() stands for all networks that are routed to one another.
struct Way {
  std::uint64_t key = 0;

  Way any() const { return {key & ~kNetwork}; }
  bool routed() const { return (key & kRoutable) != 0; }  // its network is joined to others by IP
  bool is_any() const { return (key & kNetwork) == 0; }
  bool includes(Way other) const { return *this == other || (is_any() && other.any() == *this); }
  bool operator==(const Way&) const = default;

  static constexpr std::uint64_t kNetwork = 0x7fff'ffff;
  static constexpr std::uint64_t kRoutable = 0x8000'0000;
};

struct FabricOptions {
  std::string provider;   // "": choose; else libfabric's name ("tcp;ofi_rxm", "net", ...) or "rxm"
  std::string interface;  // "": choose; else a name (eth0), an address or a subnet (10.1.0.0/16)
  bool one_host = false;  // all processes are on this machine: loopback is best; else it is no use
  bool thread_safe = false;       // several threads at a time; else one per completion queue
  bool claim_local_keys = false;  // for tests: as if the provider needed keys for local buffers
};

// One way of talking that a provider offers.
struct Offer {
  std::string provider;   // as libfabric names it
  std::string network;    // libfabric's fabric: a subnet, or the provider's own name
  std::string interface;  // a network interface, or the provider's own name of the device
  std::string address;    // IPv4 or IPv6; "" for providers with addresses of their own
  std::string host;       // where the network does not leave this machine: what names the machine
};

Way way_of(const Offer& offer);

// Whether a user who says `wanted` means `provider`. "tcp" means native tcp and its older name net.
bool names_provider(std::string_view wanted, std::string_view provider);

// Indices into `offers`, best first, one for each way. Throws Error when none is left: says what
// there is, and why each was refused.
std::vector<std::size_t> choose(std::span<const Offer> offers, const FabricOptions& options,
                                std::span<const Interface> machine);

struct Candidate {
  Way way;
  std::string provider, network, interface;  // for people
};

// The same result in every process that gives the same lists. lists[r]: the ways of rank r, best
// first. The first way of rank 0 that everybody has; else the first that leads to everybody's
// networks by routing. Throws Error naming the ranks that are apart; `mine` gives ways their names.
Way common_way(const std::vector<std::vector<Way>>& lists, std::span<const Candidate> mine = {});

}  // namespace rdma
