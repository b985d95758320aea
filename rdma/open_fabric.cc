#include "rdma/open_fabric.h"

#include <rdma/fi_errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "rdma/error.h"

namespace rdma {
namespace {

// How much is asked of a provider. Those that cannot give it may be found by the next.
struct Demand {
  std::uint64_t caps;
  std::uint64_t order;
  fi_resource_mgmt resources;
};

constexpr Demand kDemands[] = {
    {FI_MSG | FI_RMA, FI_ORDER_SAS | FI_ORDER_SAW, FI_RM_ENABLED},
    {FI_MSG | FI_RMA, FI_ORDER_SAS, FI_RM_ENABLED},
    {FI_MSG | FI_RMA, FI_ORDER_SAS, FI_RM_UNSPEC},
    {FI_MSG, FI_ORDER_SAS, FI_RM_UNSPEC},
};

constexpr Demand kDatagramDemands[] = {{FI_MSG, FI_ORDER_NONE, FI_RM_UNSPEC}};

std::uint32_t version() {
  return std::min<std::uint32_t>(Library::get().version(), FI_VERSION(1, 17));
}

Info make_hints(const Demand& demand, const FabricOptions& options) {
  Info hints(Library::get().dupinfo(nullptr));
  if (hints == nullptr) fail("no memory to ask libfabric with", FI_ENOMEM);
  hints->caps = demand.caps;
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | (options.datagrams ? FI_MSG_PREFIX : 0);
  hints->ep_attr->type = options.datagrams ? FI_EP_DGRAM : FI_EP_RDM;
  hints->tx_attr->msg_order = demand.order;
  hints->rx_attr->msg_order = demand.order;
  fi_domain_attr& domain = *hints->domain_attr;
  domain.mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  domain.threading = options.thread_safe ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
  domain.control_progress = FI_PROGRESS_MANUAL;
  domain.data_progress = FI_PROGRESS_MANUAL;
  domain.resource_mgmt = demand.resources;
  return hints;
}

// nullptr when nothing fits.
Info ask(const fi_info& hints, ProviderGuard& guard) {
  fi_info* found = nullptr;
  const long result = guard.try_run("fi_getinfo", [&] {
    return Library::get().getinfo(version(), nullptr, nullptr, 0, &hints, &found);
  });
  if (result != 0 && result != -FI_ENODATA) fail("libfabric cannot list its providers", result);
  return Info(found);
}

// Equal for the processes that share this machine's loopback and /dev/shm.
std::string this_host() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  for (const char* place : {"/proc/self/ns/net", "/dev/shm"}) {
    struct stat status {};
    if (stat(place, &status) == 0) {
      boot += " " + std::to_string(status.st_dev) + "." + std::to_string(status.st_ino);
    }
  }
  return boot;
}

bool stays_on_host(const Offer& offer) {
  return loopback(offer.address) || offer.provider == "shm" || offer.provider == "sm2";
}

Offer offer_of(const fi_info& info, const std::vector<Interface>& machine) {
  Offer offer{.provider = info.fabric_attr->prov_name,
              .network = info.fabric_attr->name,
              .device = info.domain_attr->name,
              .interface = info.domain_attr->name,
              .address = "",
              .host = ""};
  const bool ip = info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
                  info.addr_format == FI_SOCKADDR_IN6;
  if (ip && info.src_addr != nullptr) offer.address = address_text(info.src_addr);
  for (const Interface& one : machine) {
    if (std::ranges::find(one.addresses, offer.address) != one.addresses.end()) {
      offer.interface = one.name;
    }
  }
  if (stays_on_host(offer)) offer.host = this_host();
  return offer;
}

struct Found {
  std::vector<Info> infos;
  std::vector<Offer> offers;  // offers[i] tells of infos[i]
};

void add(Found& found, const fi_info& info, const std::vector<Interface>& machine) {
  Offer offer = offer_of(info, machine);
  const bool known = std::ranges::any_of(found.offers, [&](const Offer& other) {
    return way_of(other) == way_of(offer) && other.device == offer.device &&
           other.address == offer.address;
  });
  if (known) return;  // libfabric lists some things several times
  found.infos.emplace_back(Library::get().dupinfo(&info));
  found.offers.push_back(std::move(offer));
}

// Everything that meets a demand, each as it meets the first.
Found find_all(const FabricOptions& options, const std::vector<Interface>& machine) {
  ProviderGuard guard(options.who, library_text() + " or one of its providers",
                      "; the variable FI_PROVIDER says which of them are asked (FI_PROVIDER=tcp)");
  Found found;
  const std::span<const Demand> demands =
      options.datagrams ? std::span<const Demand>(kDatagramDemands) : kDemands;
  for (const Demand& demand : demands) {
    const Info list = ask(*make_hints(demand, options), guard);
    for (const fi_info* one = list.get(); one != nullptr; one = one->next) {
      // Where writes have an order, shm does not copy straight into the target's memory any more.
      const bool costs = (demand.order & FI_ORDER_SAW) != 0 &&
                         std::string_view(one->fabric_attr->prov_name) == "shm";
      if (!costs) add(found, *one, machine);
    }
  }
  return found;
}

Candidate candidate_of(const Offer& offer) {
  return {.way = way_of(offer),
          .provider = offer.provider,
          .network = offer.network,
          .interface = offer.interface};
}

bool can_open_wait_fd(fid_domain* domain, ProviderGuard& guard) {
  fi_cq_attr attr{};
  attr.format = FI_CQ_FORMAT_CONTEXT;
  attr.wait_obj = FI_WAIT_FD;
  fid_cq* queue = nullptr;
  const long result = guard.try_run("fi_cq_open with FI_WAIT_FD",
                                    [&] { return fi_cq_open(domain, &attr, &queue, nullptr); });
  if (result != 0) return false;
  const Fid<fid_cq> closes(queue);
  int fd = -1;
  return fi_control(&queue->fid, FI_GETWAIT, &fd) == 0 && fd >= 0;
}

bool can_complete_delivery(const fi_info& info, ProviderGuard& guard) {
  const Info hints(Library::get().dupinfo(&info));
  hints->tx_attr->op_flags |= FI_DELIVERY_COMPLETE;
  fi_info* found = nullptr;
  const long result = guard.try_run("fi_getinfo", [&] {
    return Library::get().getinfo(version(), nullptr, nullptr, 0, hints.get(), &found);
  });
  const Info closes(found);
  return result == 0;
}

// Why the first of `choice`, for people.
std::string reason(const FabricOptions& options, const Found& found, const Choice& choice) {
  std::set<std::string> known;  // what needs no mention, or has had it
  std::string text = "best of";
  for (const std::size_t i : choice.order) {
    const Offer& offer = found.offers[i];
    if (known.insert(offer.provider).second) {
      text += (i == choice.order[0] ? " " : ", ") + offer.provider;
    }
    known.insert(offer.interface);
  }
  if (!options.provider.empty()) text = "provider as named";
  if (!options.interface.empty()) text += "; interface as named";
  for (const std::string& why : choice.refused) {
    if (!known.contains(why.substr(0, why.find(' ')))) text += "; " + why;
  }
  return text;
}

}  // namespace

std::vector<Candidate> Fabric::candidates(const Options& options) {
  const std::vector<Interface> machine = interfaces();
  const Found found = find_all(options, machine);
  std::vector<Candidate> all;
  for (const std::size_t i : choose(found.offers, options, machine).order) {
    if (all.size() < kMaxCandidates) all.push_back(candidate_of(found.offers[i]));
  }
  return all;
}

std::vector<Offer> Fabric::offers(const Options& options) {
  return find_all(options, interfaces()).offers;
}

Fabric::Fabric(const Options& options, Way way) : who_(options.who) {
  const std::vector<Interface> machine = interfaces();
  Found found = find_all(options, machine);
  const Choice choice = choose(found.offers, options, machine);
  const std::size_t picked = pick(choice, found.offers, way, machine);
  candidate_ = candidate_of(found.offers[picked]);
  reason_ = reason(options, found, choice) + (way.is_any_network() ? "; routed" : "");
  info_ = std::move(found.infos[picked]);
  if (options.claim_no_inject) info_->tx_attr->inject_size = 0;
  local_keys_ = options.claim_local_keys || (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  waits_for_bad_memory_ = candidate_.provider == "sockets" || candidate_.provider == "shm";
  open();
}

void Fabric::open() {
  ProviderGuard watched = guard();
  fid_fabric* fabric = nullptr;
  watched.run("fi_fabric",
              [&] { return Library::get().fabric(info_->fabric_attr, &fabric, nullptr); });
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  watched.run("fi_domain", [&] { return fi_domain(fabric, info_.get(), &domain, nullptr); });
  domain_.reset(domain);
  wait_fd_ = can_open_wait_fd(domain, watched);
  delivery_complete_ = has_rma() && can_complete_delivery(*info_, watched);
}

ProviderGuard Fabric::guard() const {
  return {who_,
          library_text() + "'s provider " + candidate_.provider + " on " + candidate_.interface,
          "; choose another with SPLITC_PROVIDER"};
}

std::size_t Fabric::eager_bytes() const {
  // 64 KiB in pieces of 4 KiB, each with its headers, of up to 64 bytes: a second frame for the
  // last of these took an eighth more.
  const std::size_t most = is_native_tcp() ? 66'688 : 16'384;
  return std::min(most, info_->ep_attr->max_msg_size);
}

std::string Fabric::describe() const {
  std::string text = candidate_.provider + " on " + candidate_.interface + " (" +
                     candidate_.network + "): inject " + std::to_string(inject_bytes()) + " B";
  if (is_unreliable()) return text + " (" + reason_ + ")";
  text += has_usable_rma() ? ", RMA"
          : !has_rma()     ? ", no RMA"
          : is_rxd()       ? ", RMA that may hang"
                           : ", RMA without FI_DELIVERY_COMPLETE";
  if (write_before_send()) text += ", FI_ORDER_SAW";
  if (needs_local_keys()) text += ", FI_MR_LOCAL";
  text += has_wait_fd() ? ", wait by descriptor" : ", wait by polling";
  return text + " (" + reason_ + ")";
}

}  // namespace rdma
