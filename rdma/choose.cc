#include "rdma/choose.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "rdma/error.h"

namespace rdma {
namespace {

using Names = std::set<std::string>;

// Providers by how fast they are: hardware, then TCP as the system does it, then what is emulated.
constexpr std::string_view kBestFirst[] = {
    "cxi",   "opx", "efa", "verbs;ofi_rxm", "psm3",        "psm2", "psm",     "gni",
    "verbs", "tcp", "net", "tcp;ofi_rxm",   "net;ofi_rxm", "udp",  "sockets", "udp;ofi_rxd"};
constexpr std::string_view kFirstSoftware = "tcp";  // of these
constexpr std::string_view kLastTcp = "net;ofi_rxm";

// For one machine, without RMA, or made of others: used when named.
constexpr std::string_view kOnlyNamed[] = {"shm", "sm2", "lnx", "ofi_mrail", "ofi_rstream"};

// Providers whose messages name operations under way by small numbers that anybody can guess: who
// reaches their port can end operations of others, and write into the memory that these are to
// fill. (sockets: pe_entry_id; udp;ofi_rxd: the peer's number, tx_id, and no connection that had to
// be made from a true address.)
constexpr std::string_view kUnprotected[] = {"sockets", "udp;ofi_rxd"};

std::uint64_t hash(std::string_view text) {  // FNV-1a, and mixed so that every bit counts
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return ((value ^ value >> 32) * 0x9e3779b97f4a7c15) >> 24;
}

std::vector<std::string_view> layers(std::string_view name) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find(';', at), name.size());
    all.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

bool has_layer(std::string_view provider, std::string_view layer) {
  return std::ranges::any_of(layers(provider), [&](std::string_view one) {
    return one == layer || (one.starts_with("ofi_") && one.substr(4) == layer);
  });
}

bool only_named(std::string_view provider) {
  return std::ranges::any_of(kOnlyNamed,
                             [&](std::string_view name) { return has_layer(provider, name); });
}

bool is_ipv6(const Offer& offer) { return offer.address.find(':') != std::string::npos; }

std::string joined(const Names& all, const char* between = ", ") {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : between) + one;
  return text.empty() ? "none" : text;
}

std::string up_interfaces(std::span<const Interface> machine) {
  Names up;
  for (const Interface& one : machine) {
    if (one.up && !one.addresses.empty()) up.insert(one.name);
  }
  return joined(up);
}

const Interface* find(std::span<const Interface> machine, const std::string& name) {
  const auto at = std::ranges::find(machine, name, &Interface::name);
  return at == machine.end() ? nullptr : &*at;
}

// The interface that a name, an address or a subnet means.
bool means(const std::string& wanted, const Interface& one) {
  return wanted == one.name || std::ranges::any_of(one.addresses, [&](const std::string& address) {
           return in_subnet(address, wanted);
         });
}

bool means(const std::string& wanted, const Offer& offer) {
  return wanted == offer.interface || wanted == offer.device || wanted == offer.network ||
         in_subnet(offer.address, wanted);
}

// libfabric lists 127.0.0.1 and ::1 on every machine, also where one of them is not configured.
bool is_missing_loopback(const Offer& offer, std::span<const Interface> machine) {
  if (!loopback(offer.address)) return false;
  return std::ranges::none_of(machine, [&](const Interface& one) {
    return std::ranges::find(one.addresses, offer.address) != one.addresses.end();
  });
}

// Why the offer is not taken; "" when it is.
std::string refusal(const Offer& offer, const FabricOptions& options,
                    std::span<const Interface> machine) {
  const Interface* const interface = find(machine, offer.interface);
  if (options.provider.empty() && only_named(offer.provider)) return "is used only when named";
  if (is_missing_loopback(offer, machine)) return "does not have the address " + offer.address;
  if (interface != nullptr && !interface->up) return "is down";
  if (!options.interface.empty()) {
    return means(options.interface, offer) ? "" : "is not " + options.interface;
  }
  const bool on_loopback = interface != nullptr && interface->loopback;
  if (on_loopback && !options.one_host) {
    return "is loopback, and other machines take part";
  }
  if (is_unprotected(offer.provider) && !on_loopback && !loopback(offer.address)) {
    return "is open to other machines, and " + offer.provider +
           " does not protect a job from strangers there";
  }
  if (interface != nullptr && !interface->kind.empty()) return "is " + interface->kind;
  if (link_local(offer.address)) return "has an address of one link only";
  return "";
}

// Of a provider. When a process dies while others make connections by net (libfabric 1.17), some of
// these break and their messages are lost: in 10 of 180 jobs of eight processes under load; in none
// of 60 over tcp;ofi_rxm.
const std::string_view* speed_of(std::string_view provider, bool peers_may_die) {
  const bool last = peers_may_die && is_native_tcp(provider);
  return std::ranges::find(kBestFirst, last ? kLastTcp : provider);
}

// Smaller is better.
auto worth(const Offer& offer, const FabricOptions& options, const Interface* interface) {
  const auto* speed = speed_of(offer.provider, options.peers_may_die);
  const bool on_loopback = interface != nullptr && interface->loopback;
  return std::array<std::size_t, 4>{static_cast<std::size_t>(speed - std::begin(kBestFirst)),
                                    on_loopback != options.one_host, link_local(offer.address),
                                    is_ipv6(offer)};
}

[[noreturn]] void throw_unknown_provider(std::span<const Offer> offers,
                                         const FabricOptions& options) {
  Names known;
  for (const Offer& offer : offers) known.insert(offer.provider);
  throw Error("rdma: libfabric has no provider " + options.provider + " here that can send " +
              (options.datagrams ? "unreliable" : "reliable") +
              " datagrams; those it has are: " + joined(known) +
              // It is not offered then, and libfabric does not say why.
              (options.provider == "shm" ? "; this one takes some 30 MiB of /dev/shm, which may be "
                                           "full or too small (df /dev/shm): make it larger"
                                         : ""));
}

// Throws: nothing goes by the interface that the user named.
[[noreturn]] void throw_interface(const FabricOptions& options,
                                  std::span<const Interface> machine) {
  const std::string& wanted = options.interface;
  const std::string those = "; interfaces that are up: " + up_interfaces(machine);
  const auto at =
      std::ranges::find_if(machine, [&](const Interface& i) { return means(wanted, i); });
  if (at == machine.end()) {
    throw Error("rdma: this machine has no network interface, address or subnet " + wanted + those);
  }
  const std::string name =
      "the interface " + at->name + (wanted == at->name ? "" : " (" + wanted + ")");
  if (!at->up) throw Error("rdma: " + name + " is down" + those);
  if (at->addresses.empty()) throw Error("rdma: " + name + " has no address" + those);
  throw Error("rdma: the provider " + (options.provider.empty() ? "(any)" : options.provider) +
              " does not use " + name + "; name another, or none");
}

[[noreturn]] void throw_none(const Choice& choice, const FabricOptions& options) {
  const std::string who = options.provider.empty() ? "" : " with the provider " + options.provider;
  if (choice.refused.empty()) {
    throw Error("rdma: libfabric offers no network" + who +
                "; install a provider, or look what the variable FI_PROVIDER leaves of them");
  }
  throw Error("rdma: no network can be used" + who + ": " + joined(choice.refused, "; ") +
              "; name an interface to use it all the same");
}

// Those that the user means by `wanted`: by the whole name if there is such a provider.
std::vector<std::size_t> of_provider(std::span<const Offer> offers, const std::string& wanted) {
  const bool exact = std::ranges::find(offers, wanted, &Offer::provider) != offers.end();
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const std::string& provider = offers[i].provider;
    if (wanted.empty() || (exact ? provider == wanted : names_provider(wanted, provider))) {
      found.push_back(i);
    }
  }
  return found;
}

// Those that may be used, in the order given, and the others' reasons.
Choice sift(std::span<const Offer> offers, const std::vector<std::size_t>& from,
            const FabricOptions& options, std::span<const Interface> machine) {
  Choice choice;
  for (const std::size_t i : from) {
    const std::string why = refusal(offers[i], options, machine);
    if (why.empty()) {
      choice.order.push_back(i);
    } else if (options.interface.empty()) {
      choice.refused.insert(offers[i].interface + " " + why);
    }
  }
  return choice;
}

bool has(const std::vector<Way>& list, Way way) {
  return std::ranges::any_of(list, [&](Way one) { return way.includes(one); });
}

// "rank 3", "ranks 1, 2 and 7 more"
std::string ranks_text(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t kShown = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  if (ranks.size() > kShown) text += " and " + std::to_string(ranks.size() - kShown) + " more";
  return text;
}

std::vector<std::size_t> ranks_without(const std::vector<std::vector<Way>>& lists, Way way) {
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    if (!has(lists[r], way)) ranks.push_back(r);
  }
  return ranks;
}

std::string name_of(Way way, std::span<const Candidate> mine) {
  for (const Candidate& one : mine) {
    if (one.way == way) return one.provider + " on the network " + one.network;
  }
  return "its best way";
}

// Why a provider may be on loopback alone.
std::string loopback_hint(std::span<const Candidate> mine) {
  const auto found =
      std::ranges::find_if(mine, [](const Candidate& one) { return is_unprotected(one.provider); });
  if (found == mine.end()) return "";
  return "; " + found->provider +
         " does not protect a job from strangers, and is used beyond loopback only on an "
         "interface that is named";
}

[[noreturn]] void throw_apart(const std::vector<std::vector<Way>>& lists,
                              std::span<const Candidate> mine) {
  std::vector<std::size_t> empty;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    if (lists[r].empty()) empty.push_back(r);
  }
  if (!empty.empty()) throw Error("rdma: no network at all at " + ranks_text(empty));
  Way best = lists[0].front();
  for (const Way way : lists[0]) {
    if (ranks_without(lists, way).size() < ranks_without(lists, best).size()) best = way;
  }
  throw Error("rdma: no provider and network is common to all " + std::to_string(lists.size()) +
              " processes: rank 0 has " + name_of(best, mine) + " and " +
              std::to_string(lists[0].size() - 1) + " more, but " +
              ranks_text(ranks_without(lists, best)) +
              " cannot be reached that way; give all processes the same provider, and interfaces "
              "of one network" +
              loopback_hint(mine));
}

}  // namespace

bool is_native_tcp(std::string_view provider) { return provider == "tcp" || provider == "net"; }

bool is_hardware_provider(std::string_view provider) {
  const auto* const end = std::ranges::find(kBestFirst, kFirstSoftware);
  return std::find(std::begin(kBestFirst), end, provider) != end;
}

bool is_unprotected(std::string_view provider) {
  return std::ranges::find(kUnprotected, provider) != std::end(kUnprotected);
}

Way way_of(const Offer& offer) {
  const bool routable = !offer.address.empty() && offer.host.empty() && !link_local(offer.address);
  const std::uint64_t provider = hash(offer.provider + (is_ipv6(offer) ? "|6" : "|4"));
  const std::uint64_t network = hash(offer.network + "|" + offer.host) & Way::kNetwork;
  return {provider << 32 | (routable ? Way::kRoutable : 0) | std::max<std::uint64_t>(network, 1)};
}

bool names_provider(std::string_view wanted, std::string_view provider) {
  if (is_native_tcp(wanted) && is_native_tcp(provider)) return true;
  return std::ranges::all_of(layers(wanted),
                             [&](std::string_view layer) { return has_layer(provider, layer); });
}

Choice choose(std::span<const Offer> offers, const FabricOptions& options,
              std::span<const Interface> machine) {
  const std::vector<std::size_t> named = of_provider(offers, options.provider);
  if (named.empty() && !offers.empty()) throw_unknown_provider(offers, options);
  Choice choice = sift(offers, named, options, machine);
  if (choice.order.empty() && !options.interface.empty()) throw_interface(options, machine);
  if (choice.order.empty()) throw_none(choice, options);
  std::ranges::stable_sort(choice.order, {}, [&](std::size_t i) {
    return worth(offers[i], options, find(machine, offers[i].interface));
  });
  std::set<std::uint64_t> seen;
  std::erase_if(choice.order,
                [&](std::size_t i) { return !seen.insert(way_of(offers[i]).key).second; });
  return choice;
}

std::size_t pick(const Choice& choice, std::span<const Offer> offers, Way way,
                 std::span<const Interface> machine) {
  std::vector<std::size_t> fits;
  std::ranges::copy_if(choice.order, std::back_inserter(fits),
                       [&](std::size_t i) { return way.includes(way_of(offers[i])); });
  if (fits.empty()) {
    throw Error(
        "rdma: the provider and network that all processes agreed on are not offered to this one "
        "any more; start the job again");
  }
  const auto routed = std::ranges::find_if(fits, [&](std::size_t i) {
    const Interface* interface = find(machine, offers[i].interface);
    return interface != nullptr && interface->default_route;
  });
  return way.is_any_network() && routed != fits.end() ? *routed : fits.front();
}

Way common_way(const std::vector<std::vector<Way>>& lists, std::span<const Candidate> mine) {
  if (lists.empty()) throw Error("rdma: no list of ways was given");
  for (const Way way : lists[0]) {
    if (ranks_without(lists, way).empty()) return way;
  }
  for (const Way way : lists[0]) {
    if (way.routable() && ranks_without(lists, way.any_network()).empty()) return way.any_network();
  }
  throw_apart(lists, mine);
}

}  // namespace rdma
