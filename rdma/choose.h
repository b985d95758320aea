// Which provider and network to use, decided from plain facts: nothing here calls libfabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rdma/interface.h"

namespace rdma {

// Equal for two processes that can talk that way: provider and network, hashed. Plain bytes, to be
// exchanged.
struct Way {
  std::uint64_t key = 0;

  // The network is joined to others by IP routing, as far as can be found out.
  bool routable() const { return (key & kRoutable) != 0; }

  // This provider on whichever network: for processes on networks routed to one another.
  Way any_network() const { return {key & ~kNetwork}; }
  bool is_any_network() const { return (key & kNetwork) == 0; }

  bool includes(Way other) const {
    return *this == other || (is_any_network() && other.any_network() == *this);
  }
  bool operator==(const Way&) const = default;

  static constexpr std::uint64_t kNetwork = 0x7fff'ffff;
  static constexpr std::uint64_t kRoutable = 0x8000'0000;
};
static_assert(std::is_trivially_copyable_v<Way> && sizeof(Way) == 8);

// What a user may say.
struct FabricOptions {
  std::string provider = {};  // "": choose; else as libfabric names it ("tcp"), or a layer ("rxm")
  std::string interface =
      {};                  // "": choose; else a name (eth0), an address or a subnet (10.1.0.0/16)
  bool one_host = false;   // all processes are on this machine: loopback is best; else it is no use
  bool datagrams = false;  // unreliable ones (FI_EP_DGRAM) rather than reliable ones
  bool peers_may_die = false;     // while others go on, who must not lose their connections by it
  bool thread_safe = false;       // several threads at a time; else one for all of the fabric
  bool claim_local_keys = false;  // for tests: as if the provider needed FI_MR_LOCAL
  bool claim_no_inject = false;   // for tests: as if it read what is sent after the call
  std::string who = {};           // begins what is said of a crash: "rank 3: Job: "
};

// One way of talking that a provider offers.
struct Offer {
  std::string provider;   // as libfabric names it
  std::string network;    // libfabric's fabric: a subnet, or the provider's own name
  std::string device;     // libfabric's domain: an interface, or the provider's own name
  std::string interface;  // the network interface, where one is known; else as device
  std::string address;    // IPv4 or IPv6; "" for providers with addresses of their own
  std::string host;       // where the network does not leave this machine: what names the machine
};

struct Candidate {
  Way way;
  std::string provider, network, interface;  // for people
};

struct Choice {
  std::vector<std::size_t> order;  // indices of offers, best first, one for each way; at least one
  std::set<std::string>
      refused;  // "docker0 is a container bridge", ...; none if the user named one
};

Way way_of(const Offer& offer);

// Whether it is the provider for TCP sockets, which libfabric 1.18 renamed from net to tcp.
bool is_native_tcp(std::string_view provider);

// Whether the provider drives hardware that needs no processor at the target.
bool is_hardware_provider(std::string_view provider);

// Whether strangers who reach the provider's address can end operations of a job, or write into
// memory, without guessing anything: it is used on loopback, and elsewhere only where the user
// names the interface.
bool is_unprotected(std::string_view provider);

// Whether a user who says `wanted` means `provider`: all layers named are in it. "tcp" and "net"
// are the later and the earlier name of one provider, so each means the other as well.
bool names_provider(std::string_view wanted, std::string_view provider);

// Throws Error when nothing is left: says what there is, and why each was refused.
Choice choose(std::span<const Offer> offers, const FabricOptions& options,
              std::span<const Interface> machine);

// The best of `choice` that `way` includes; if that is any network, one on the interface with the
// default route comes first. Throws Error when there is none.
std::size_t pick(const Choice& choice, std::span<const Offer> offers, Way way,
                 std::span<const Interface> machine);

// Chooses one way for all, with one result in every process that gives the same lists. lists[r]:
// the ways of rank r, best first. The first way of rank 0 that everybody has; else the first that
// leads to everybody's networks by routing. Throws Error naming the ranks that are apart; `mine`,
// the candidates of the calling process, gives ways their names.
Way common_way(const std::vector<std::vector<Way>>& lists, std::span<const Candidate> mine = {});

}  // namespace rdma
