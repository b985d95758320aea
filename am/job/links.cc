#include "am/job/links.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "am/job/config/death_notices.h"
#include "am/job/descriptors.h"
#include "am/job/log.h"
#include "am/link/card.h"
#include "am/link/datagram/datagram_link.h"
#include "am/link/delayed/delayed_link.h"
#include "am/link/fabric_link.h"
#include "am/link/mixed/mixed_link.h"
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

std::span<const std::byte> behind_offer(std::span<const std::byte> exchanged) {
  return exchanged.subspan(sizeof(shmem::Region::Address));
}

shmem::Region::Address offer_of(std::span<const std::byte> exchanged) {
  shmem::Region::Address offer{};
  std::memcpy(&offer, exchanged.data(), sizeof offer);
  return offer;
}

std::unique_ptr<link::FabricLink> make_fabric_link(std::unique_ptr<rdma::Fabric> fabric,
                                                   Bootstrap& bootstrap, const Config& config,
                                                   Router& router) {
  const Router::Options& options = router.options();
  const bool use_rma = config.rma && fabric->has_reliable_rma();
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
  switch (config_.link) {
    case LinkChoice::kDatagram: return open_datagrams(true).link;
    case LinkChoice::kMixed: return mixed();
    case LinkChoice::kAuto: return fastest();
    case LinkChoice::kFabric: break;
  }
  std::unique_ptr<link::Link> link = open_reliable(true).link;
  if (config_.faults.delay_ns == 0) return link;
  return std::make_unique<link::DelayedLink>(std::move(link), router_.size(),
                                             config_.faults.delay_ns,
                                             config_.faults.seed + router_.rank());
}

Links::Opened Links::open_reliable(bool needed) {
  provide_files(who_, router_.options().size - router_.options().near);
  return open({.provider = config_.provider,
               .interface = config_.interface,
               .one_host = one_host_,
               .peers_may_die = router_.deaths() != nullptr,
               .thread_safe = config_.progress_thread,
               .who = who_},
              needed, [this](std::unique_ptr<rdma::Fabric> fabric) {
                hardware_ = fabric->is_hardware();
                return make_fabric_link(std::move(fabric), bootstrap_, config_, router_);
              });
}

// Beside a reliable link SPLITC_PROVIDER names the provider of that one.
Links::Opened Links::open_datagrams(bool needed) {
  const bool alone = config_.link == LinkChoice::kDatagram;
  return open({.provider = alone ? config_.provider : "",
               .interface = config_.interface,
               .one_host = one_host_,
               .datagrams = true,
               .thread_safe = config_.progress_thread,
               .who = who_},
              needed, [this](std::unique_ptr<rdma::Fabric> fabric) {
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

// What is not `needed` is refused by all processes if one of them cannot have it.
template <class Make>
Links::Opened Links::open(const rdma::FabricOptions& options, bool needed, const Make& make) {
  std::vector<rdma::Candidate> candidates;
  std::string refusal;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const rdma::Error& error) {
      if (needed) throw;
      if (refusal.empty()) refusal = error.what();
    } catch (const Error& error) {
      if (needed) throw;
      if (refusal.empty()) refusal = error.what();
    }
  };
  attempt([&] { candidates = rdma::Fabric::candidates(options); });
  std::optional<rdma::Way> way;
  attempt([&] { way = agree(candidates); });  // the same in all processes
  if (!way) return {nullptr, refusal};
  decltype(make(nullptr)) made;
  attempt([&] { made = make(std::make_unique<rdma::Fabric>(options, *way)); });
  return introduce(std::move(made), std::move(refusal));
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

// All processes of other nodes get to know the link of this one, and it theirs; unless one of them
// has none.
template <class AnyLink>
Links::Opened Links::introduce(std::unique_ptr<AnyLink> link, std::string refusal) {
  const auto cards = bootstrap_.exchange(link ? card_of(*link) : std::vector<std::byte>());
  for (Rank rank = 0; rank < cards.size(); ++rank) {
    if (cards[rank].size() > sizeof(shmem::Region::Address)) continue;
    if (refusal.empty()) refusal = "rank " + std::to_string(rank) + " cannot open it";
    return {nullptr, std::move(refusal)};
  }
  for (Rank rank = 0; rank < cards.size(); ++rank) {
    if (!router_.is_near(rank)) link->introduce(rank, behind_offer(cards[rank]));
  }
  if constexpr (offers<AnyLink>) link->settle(offer_of(cards[router_.near_ranks().front()]));
  return {std::move(link), ""};
}

std::unique_ptr<link::Link> Links::mixed() {
  std::unique_ptr<link::Link> reliable = open_reliable(true).link;
  if (!reliable->has_rma()) {
    throw Error(who_ + "SPLITC_LINK=mixed: " + reliable->describe() +
                " has no RMA that can be used; set SPLITC_LINK=datagram");
  }
  return std::make_unique<link::MixedLink>(open_datagrams(true).link, std::move(reliable));
}

std::unique_ptr<link::Link> Links::fastest() {
  Opened reliable = open_reliable(false);
  Opened datagrams = open_datagrams(false);
  if (!reliable.link && !datagrams.link) throw Error(who_ + reliable.refusal);
  if (!datagrams.link) {
    reason_ = "fabric; no datagrams: " + datagrams.refusal;
    return std::move(reliable.link);
  }
  if (!reliable.link) {
    reason_ = "datagram; no fabric: " + reliable.refusal;
    return std::move(datagrams.link);
  }
  const link::Comparison found = compare(*reliable.link, *datagrams.link);
  reason_ = ": " + found.describe();
  if (!found.messages_by_datagrams()) {
    reason_ = "fabric" + reason_;
    return std::move(reliable.link);
  }
  if (!found.bulk_by_rma()) {
    reason_ = "datagram" + reason_;
    return std::move(datagrams.link);
  }
  reason_ = "mixed" + reason_;
  return std::make_unique<link::MixedLink>(std::move(datagrams.link), std::move(reliable.link));
}

// What rank 0 has measured.
link::Comparison Links::compare(link::Link& reliable, link::Link& datagrams) {
  const std::vector<Rank>& leaders = router_.options().leaders;
  link::Comparer comparer(reliable, datagrams);
  link::Comparison mine;
  if (router_.rank() == 0) {
    mine = comparer.measure(std::span(leaders).subspan(1));
  } else if (std::ranges::find(leaders, router_.rank()) != leaders.end()) {
    comparer.answer();
  }
  const auto all = bootstrap_.exchange(std::as_bytes(std::span(&mine, 1)));
  if (all[0].size() != sizeof mine) {
    throw Error(who_ + "the exchange of measurements was disturbed: start the job again");
  }
  std::memcpy(&mine, all[0].data(), sizeof mine);
  return mine;
}

}  // namespace am
