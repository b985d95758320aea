#include "am/job/network.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "am/job/config/control.h"
#include "am/job/descriptors.h"
#include "am/job/log.h"
#include "am/link/card.h"
#include "am/link/datagram/datagram_link.h"
#include "am/link/fabric/fabric_link.h"
#include "am/link/link.h"
#include "am/route/port.h"
#include "am/route/process_stat.h"
#include "rdma/error.h"
#include "rdma/library.h"
#include "rdma/open_fabric.h"
#include "shmem/region.h"

namespace am {
namespace {

using Ways = std::vector<rdma::Way>;

constexpr std::uint64_t kOtherFiles = 64;  // of the provider, and of the program later on

static_assert(rdma::Fabric::kMaxCandidates * sizeof(rdma::Way) <= Bootstrap::kMaxBlob);
static_assert(sizeof(shmem::Region::Address) + link::FabricLink::kMaxCard <= Bootstrap::kMaxBlob);
static_assert(sizeof(shmem::Region::Address) + link::DatagramLink::kMaxCard <= Bootstrap::kMaxBlob);

// Each far process that is talked to takes an open file. A process that has none left for the
// connection of another does not answer it.
void provide_files(const std::string& who, std::uint64_t peers) {
  const std::uint64_t limit = open_files_limit();  // make_bootstrap() has raised it
  const std::uint64_t wanted = open_files() + peers + kOtherFiles;
  if (limit >= wanted) return;
  log_warning(who + std::to_string(limit) +
              " files may be open (ulimit -Hn), and connections to all " + std::to_string(peers) +
              " far processes need " + std::to_string(wanted) +
              ": raise the limit (nofile in /etc/security/limits.conf, LimitNOFILE= of the daemon "
              "that starts the job)");
}

std::function<void(const std::string&)> fatal(Router& router) {
  return [&router](const std::string& sentence) { router.fatal(sentence); };
}

// The launcher may not have named one yet that is dead already.
std::function<bool(Rank)> has_died(Bootstrap& bootstrap, Router& router) {
  if (router.deaths() == nullptr) return {};
  return [&notices = *bootstrap.death_notices(), &router](Rank rank) {
    const pid_t pid = notices.pid(rank);
    const bool dead = notices.is_dead(rank) || has_ended(pid);
    if (dead) router.note_death(rank, pid);
    return dead;
  };
}

std::function<void(const std::string&)> warn(Rank me) {
  return [me](const std::string& sentence) {
    log_warning("rank " + std::to_string(me) + ": " + sentence);
  };
}

// Whether the processes of a node may keep together what such a link knows of others.
template <class AnyLink>
constexpr bool offers = requires(AnyLink& link) {
  link.offer();
};

// What is too short for an offer has none, and a card that introduce() refuses.
std::span<const std::byte> behind_offer(std::span<const std::byte> exchanged) {
  return exchanged.subspan(std::min(sizeof(shmem::Region::Address), exchanged.size()));
}

shmem::Region::Address offer_of(std::span<const std::byte> exchanged) {
  shmem::Region::Address offer{};
  std::memcpy(&offer, exchanged.data(), std::min(sizeof offer, exchanged.size()));
  return offer;
}

// Opens the link to other nodes as `config` says (SPLITC_LINK), the same in all processes; it knows
// all processes of other nodes. All processes of the job call open(), once.
class Network {
 public:
  Network(Bootstrap& bootstrap, const Config& config, bool one_host, Router& router,
          const std::string& who)
      : bootstrap_(bootstrap), config_(config), one_host_(one_host), router_(router), who_(who) {}

  // Throws Error, rdma::Error: no network that all share, or none that can be used.
  std::unique_ptr<link::Link> open() {
    const bool datagrams = config_.link == LinkChoice::kDatagram;
    if (!datagrams) provide_files(who_, router_.options().size - router_.options().near);
    const rdma::FabricOptions options{.provider = config_.provider,
                                      .interface = config_.interface,
                                      .one_host = one_host_,
                                      .datagrams = datagrams,
                                      .peers_may_die = router_.deaths() != nullptr,
                                      .thread_safe = config_.progress_thread,
                                      .who = who_};
    const rdma::Way way = agree(rdma::Fabric::candidates(options));
    auto fabric = std::make_unique<rdma::Fabric>(options, way);
    if (datagrams) return open_datagrams(std::move(fabric));
    return open_reliable(std::move(fabric));
  }

 private:
  std::unique_ptr<link::Link> open_reliable(std::unique_ptr<rdma::Fabric> fabric) {
    const Router::Options& options = router_.options();
    const bool use_rma = config_.rma && fabric->has_usable_rma();
    return introduced(std::make_unique<link::FabricLink>(
        std::move(fabric),
        link::FabricLink::Options{
            .rank = options.rank,
            .size = options.size,
            .peers = options.size - options.near,
            .segment = {router_.segment(), options.segment_bytes},
            .use_rma = use_rma,
            .progress_thread = config_.progress_thread,
            .sleeps = options.oversubscribed || options.wait == WaitPolicy::kBlock,
            .fatal = fatal(router_),
            .has_died = has_died(bootstrap_, router_),
            .warn = warn(options.rank)}));
  }

  std::unique_ptr<link::Link> open_datagrams(std::unique_ptr<rdma::Fabric> fabric) {
    return introduced(std::make_unique<link::DatagramLink>(
        std::move(fabric), link::DatagramLink::Options{.rank = router_.rank(),
                                                       .size = router_.size(),
                                                       .fatal = fatal(router_),
                                                       .has_died = has_died(bootstrap_, router_),
                                                       .warn = warn(router_.rank()),
                                                       .faults = config_.faults}));
  }

  // The way that all processes take.
  rdma::Way agree(const std::vector<rdma::Candidate>& candidates) {
    Ways mine;
    for (const rdma::Candidate& candidate : candidates) mine.push_back(candidate.way);
    std::vector<Ways> lists;
    for (const std::vector<std::byte>& blob : bootstrap_.exchange(std::as_bytes(std::span(mine)))) {
      Ways& ways = lists.emplace_back(blob.size() / sizeof(rdma::Way));
      if (!ways.empty()) std::memcpy(ways.data(), blob.data(), ways.size() * sizeof(rdma::Way));
    }
    return rdma::common_way(lists, candidates);
  }

  // All processes of other nodes get to know the link of this one, and it theirs. What is
  // exchanged: where the processes of a node may keep the cards, and the card.
  template <class AnyLink>
  std::unique_ptr<link::Link> introduced(std::unique_ptr<AnyLink> link) {
    shmem::Region::Address offer{};
    if constexpr (offers<AnyLink>) {
      if (router_.leads_node() && router_.options().near > 1) offer = link->offer();
    }
    const auto cards =
        bootstrap_.exchange(link::joined(std::as_bytes(std::span(&offer, 1)), link->card()));
    for (Rank rank = 0; rank < cards.size(); ++rank) {
      if (!router_.is_near(rank)) link->introduce(rank, behind_offer(cards[rank]));
    }
    if constexpr (offers<AnyLink>) link->settle(offer_of(cards[router_.near_ranks().front()]));
    return link;
  }

  Bootstrap& bootstrap_;
  const Config& config_;
  const bool one_host_;
  Router& router_;
  const std::string& who_;
};

}  // namespace

std::string join_network(Bootstrap& bootstrap, const Config& config, bool one_host,
                         Router& router) {
  const std::string who = "rank " + std::to_string(router.rank()) + ": Job: ";
  if (config.progress_thread && config.link != LinkChoice::kFabric) {
    // Not by SPLITC_PROGRESS, which is refused sooner.
    throw Error(who +
                "a program that starts beside MPI has a thread that keeps the network going, which "
                "datagrams cannot have; set SPLITC_LINK=fabric");
  }
  if (router.deaths() != nullptr && config.provider.starts_with("shm")) {
    throw Error(
        who +
        "SPLITC_PROVIDER=shm: its processes wait for the dead in memory that they share, so "
        "the job cannot go on without them; name another provider, such as tcp;ofi_rxm, or "
        "do without --survive (SPLITC_SURVIVE)");
  }
  try {
    router.add_port(std::make_unique<Port>(
        router, Network(bootstrap, config, one_host, router, who).open(), config.progress_thread));
    return rdma::library_text();
  } catch (const rdma::Error& error) {
    throw Error(who + error.what());
  } catch (const shmem::Error& error) {
    throw Error(who + error.what());
  }
}

}  // namespace am
