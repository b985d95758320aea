#include "rdma/choose.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "rdma/error.h"

namespace rdma {
namespace {

// Providers by how fast they are, hardware first. Later ones are used only where nothing above is.
constexpr std::string_view kBestFirst[] = {
    "cxi",   "opx", "efa", "verbs;ofi_rxm", "psm3",        "psm2",    "psm",        "gni",
    "verbs", "tcp", "net", "tcp;ofi_rxm",   "net;ofi_rxm", "sockets", "udp;ofi_rxd"};

// One machine only, or without RMA, or layers for others: used when named.
constexpr std::string_view kOnlyNamed[] = {"shm", "sm2", "lnx", "ofi_mrail", "ofi_rstream"};

std::uint64_t hash(std::string_view text) {  // FNV-1a, then mixed so that every bit counts
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  value ^= value >> 32;
  return (value * 0x9e3779b97f4a7c15) >> 17;
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

std::size_t speed_rank(std::string_view provider) {
  const auto* at = std::ranges::find(kBestFirst, provider);
  return static_cast<std::size_t>(at - std::begin(kBestFirst));
}

bool is_ipv6(const Offer& offer) { return offer.address.find(':') != std::string::npos; }

const Interface* find(std::span<const Interface> machine, const std::string& name) {
  const auto at = std::ranges::find(machine, name, &Interface::name);
  return at == machine.end() ? nullptr : &*at;
}

bool on_interface(const Offer& offer, const std::string& wanted) {
  return wanted == offer.interface || wanted == offer.address || wanted == offer.network ||
         in_subnet(offer.address, wanted);
}

std::string joined(const std::set<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
  return text.empty() ? "none" : text;
}

std::string up_interfaces(std::span<const Interface> machine) {
  std::set<std::string> up;
  for (const Interface& one : machine) {
    if (one.up && !one.addresses.empty()) up.insert(one.name);
  }
  return joined(up);
}

// Throws when the interface that the user named is known to be of no use.
void check_named(const FabricOptions& options, std::span<const Interface> machine) {
  const Interface* named = find(machine, options.interface);
  if (named == nullptr) return;
  const std::string but = !named->up                 ? " is down"
                          : named->addresses.empty() ? " has no address"
                                                     : "";
  if (but.empty()) return;
  throw Error("rdma: the interface " + named->name + but +
              "; those that can be used are: " + up_interfaces(machine));
}

// Why the offer is not taken by default; "" when it is.
std::string refusal(const Offer& offer, const FabricOptions& options,
                    std::span<const Interface> machine) {
  if (options.provider.empty() && only_named(offer.provider)) return "is used only when named";
  const Interface* device = find(machine, offer.interface);
  if (device != nullptr && !device->up) return "is down";
  if (!options.interface.empty()) {
    return on_interface(offer, options.interface) ? "" : "is not " + options.interface;
  }
  if (device != nullptr && device->loopback && !options.one_host) {
    return "is loopback, and other machines take part";
  }
  if (device != nullptr && !device->kind.empty()) return "is " + device->kind;
  if (link_local(offer.address)) return "has an address of one link only";
  return "";
}

[[noreturn]] void throw_unknown_provider(std::span<const Offer> offers,
                                         const FabricOptions& options) {
  std::set<std::string> known;
  for (const Offer& offer : offers) known.insert(offer.provider);
  throw Error("rdma: libfabric has no provider " + options.provider +
              " with reliable datagrams here; those it has are: " + joined(known));
}

[[noreturn]] void throw_none(const std::map<std::string, std::set<std::string>>& refused,
                             const FabricOptions& options, std::span<const Interface> machine) {
  if (!options.interface.empty()) {
    throw Error("rdma: no network interface, address or subnet " + options.interface +
                " for the provider " + (options.provider.empty() ? "(any)" : options.provider) +
                "; interfaces that are up: " + up_interfaces(machine));
  }
  std::string why;
  for (const auto& [what, providers] : refused) {
    why += (why.empty() ? "" : "; ") + what + " (" + joined(providers) + ")";
  }
  throw Error("rdma: no network can be used: " + (why.empty() ? "libfabric offers none" : why) +
              "; name a provider and an interface to use one all the same");
}

// Smaller is better.
auto worth(const Offer& offer, const FabricOptions& options, std::span<const Interface> machine) {
  const Interface* device = find(machine, offer.interface);
  const bool loopback = device != nullptr && device->loopback;
  return std::array<std::size_t, 4>{speed_rank(offer.provider), loopback != options.one_host,
                                    link_local(offer.address), is_ipv6(offer)};
}

}  // namespace

Way way_of(const Offer& offer) {
  const bool routable = !offer.address.empty() && offer.host.empty() && !link_local(offer.address);
  const std::uint64_t provider = hash(offer.provider + (is_ipv6(offer) ? "|6" : "|4"));
  const std::uint64_t network = hash(offer.network + "|" + offer.host) & Way::kNetwork;
  return {provider << 32 | (routable ? Way::kRoutable : 0) | std::max<std::uint64_t>(network, 1)};
}

bool names_provider(std::string_view wanted, std::string_view provider) {
  if (wanted == provider || has_layer(provider, wanted)) return true;
  return wanted == "tcp" && provider == "net";
}

std::vector<std::size_t> choose(std::span<const Offer> offers, const FabricOptions& options,
                                std::span<const Interface> machine) {
  const auto named = [&](const Offer& offer) {
    return options.provider.empty() || names_provider(options.provider, offer.provider);
  };
  const bool exact = std::ranges::find(offers, options.provider, &Offer::provider) != offers.end();
  if (std::ranges::none_of(offers, named) && !offers.empty()) {
    throw_unknown_provider(offers, options);
  }
  check_named(options, machine);
  std::vector<std::size_t> order;
  std::map<std::string, std::set<std::string>> refused;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (exact ? offers[i].provider != options.provider : !named(offers[i])) continue;
    const std::string why = refusal(offers[i], options, machine);
    if (why.empty()) {
      order.push_back(i);
    } else {
      refused[offers[i].interface + " " + why].insert(offers[i].provider);
    }
  }
  if (order.empty()) throw_none(refused, options, machine);
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return worth(offers[i], options, machine); });
  std::set<std::uint64_t> seen;
  std::erase_if(order, [&](std::size_t i) { return !seen.insert(way_of(offers[i]).key).second; });
  return order;
}

}  // namespace rdma
