#include "am/job/links.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "am/job/config/control.h"
#include "am/job/descriptors.h"
#include "am/job/log.h"
#include "am/link/card.h"
#include "am/link/datagram/datagram_link.h"
#include "am/link/fabric/fabric_link.h"
#include "am/route/process_stat.h"
#include "rdma/error.h"

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

std::unique_ptr<link::FabricLink> make_fabric_link(std::unique_ptr<rdma::Fabric> fabric,
                                                   Bootstrap& bootstrap, const Config& config,
                                                   Router& router) {
  const Router::Options& options = router.options();
  const bool use_rma = config.rma && fabric->has_usable_rma();
  return std::make_unique<link::FabricLink>(
      std::move(fabric), link::FabricLink::Options{
                             .rank = options.rank,
                             .size = options.size,
                             .peers = options.size - options.near,
                             .segment = {router.segment(), options.segment_bytes},
                             .use_rma = use_rma,
                             .progress_thread = config.progress_thread,
                             .sleeps = options.oversubscribed || options.wait == WaitPolicy::kBlock,
                             .fatal = fatal(router),
                             .has_died = has_died(bootstrap, router),
                             .warn = warn(options.rank)});
}

}  // namespace

Links::Links(Bootstrap& bootstrap, const Config& config, bool one_host, Router& router)
    : bootstrap_(bootstrap),
      config_(config),
      one_host_(one_host),
      router_(router),
      who_("rank " + std::to_string(router.rank()) + ": Job: ") {}

std::unique_ptr<link::Link> Links::take() {
  return config_.link == LinkChoice::kDatagram ? open_datagrams() : open_reliable();
}

std::unique_ptr<link::Link> Links::open_reliable() {
  provide_files(who_, router_.options().size - router_.options().near);
  return open({.provider = config_.provider,
               .interface = config_.interface,
               .one_host = one_host_,
               .peers_may_die = router_.deaths() != nullptr,
               .thread_safe = config_.progress_thread,
               .who = who_},
              [this](std::unique_ptr<rdma::Fabric> fabric) {
                return make_fabric_link(std::move(fabric), bootstrap_, config_, router_);
              });
}

std::unique_ptr<link::Link> Links::open_datagrams() {
  return open({.provider = config_.provider,
               .interface = config_.interface,
               .one_host = one_host_,
               .datagrams = true,
               .thread_safe = config_.progress_thread,
               .who = who_},
              [this](std::unique_ptr<rdma::Fabric> fabric) {
                return std::make_unique<link::DatagramLink>(
                    std::move(fabric),
                    link::DatagramLink::Options{.rank = router_.rank(),
                                                .size = router_.size(),
                                                .fatal = fatal(router_),
                                                .has_died = has_died(bootstrap_, router_),
                                                .warn = warn(router_.rank()),
                                                .faults = config_.faults});
              });
}

template <class Make>
std::unique_ptr<link::Link> Links::open(const rdma::FabricOptions& options, const Make& make) {
  const rdma::Way way = agree(rdma::Fabric::candidates(options));
  auto made = make(std::make_unique<rdma::Fabric>(options, way));
  introduce(*made);
  return made;
}

// The way that all processes take.
rdma::Way Links::agree(const std::vector<rdma::Candidate>& candidates) {
  Ways mine;
  for (const rdma::Candidate& candidate : candidates) mine.push_back(candidate.way);
  std::vector<Ways> lists;
  for (const std::vector<std::byte>& blob : bootstrap_.exchange(std::as_bytes(std::span(mine)))) {
    Ways& ways = lists.emplace_back(blob.size() / sizeof(rdma::Way));
    if (!ways.empty()) std::memcpy(ways.data(), blob.data(), ways.size() * sizeof(rdma::Way));
  }
  return rdma::common_way(lists, candidates);
}

// What is exchanged: where the processes of a node may keep the cards, and the card.
template <class AnyLink>
std::vector<std::byte> Links::card_of(AnyLink& link) const {
  shmem::Region::Address offer{};
  if constexpr (offers<AnyLink>) {
    if (router_.leads_node() && router_.options().near > 1) offer = link.offer();
  }
  return link::joined(std::as_bytes(std::span(&offer, 1)), link.card());
}

// All processes of other nodes get to know the link of this one, and it theirs.
template <class AnyLink>
void Links::introduce(AnyLink& link) {
  const auto cards = bootstrap_.exchange(card_of(link));
  for (Rank rank = 0; rank < cards.size(); ++rank) {
    if (!router_.is_near(rank)) link.introduce(rank, behind_offer(cards[rank]));
  }
  if constexpr (offers<AnyLink>) link.settle(offer_of(cards[router_.near_ranks().front()]));
}

}  // namespace am
