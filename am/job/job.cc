#include "am/job/job.h"

#include <spdlog/spdlog.h>

#include <cstdlib>

#include "am/job/card.h"
#include "am/job/make_bootstrap.h"
#include "am/job/network.h"
#include "am/port.h"
#include "shmem/error.h"

namespace am {
namespace {

std::string prefix(Rank rank) { return "rank " + std::to_string(rank) + ": "; }

shmem::Region make_region(Rank rank, const Config& config) {
  try {
    return shmem::Region::create({.what = "the segment of rank " + std::to_string(rank),
                                  .bytes = RegionHeader::kBytes + config.segment_bytes});
  } catch (const shmem::Error& error) {
    throw Error(prefix(rank) + "Job: " + error.what() + "; SPLITC_SEGMENT sets the size");
  }
}

}  // namespace

Job::Job(const Config& config) : config_(config), bootstrap_(make_bootstrap(config)) {
  const Rank me = bootstrap_->rank();
  shmem::Region own = make_region(me, config);
  const Card mine = make_card(config, own);
  const std::vector<Card> cards = exchange_cards(*bootstrap_, mine);
  const Layout layout = lay_out(cards, me);
  router_ = std::make_unique<Router>(
      Router::Options{
          .rank = me,
          .size = bootstrap_->size(),
          .segment_bytes = config.segment_bytes,
          .kernel_fence = layout.all_enrolled,
          .oversubscribed = layout.here > layout.cores,
          .near = layout.near,
          .leaders = layout.leaders,
          .node = layout.node,
          .wait = config.wait,
          .abort = [this](int code,
                          const std::string& sentence) { bootstrap_->abort(code, sentence); }},
      std::move(own));
  open_neighbours(cards);
  if (layout.leaders.size() > 1) {
    join_network(*bootstrap_, config, layout.here == size(), *router_);
  }
  barrier_ = std::make_unique<Barrier>(*router_);
  bootstrap_->barrier();  // nobody leaves before all have opened its region
  if (config.verbose && me == 0) tell(layout);
}

void Job::open_neighbours(const std::vector<Card>& cards) {
  const Card& mine = cards[rank()];
  for (Rank other = 0; other < size(); ++other) {
    if (other == rank() || !cards[other].near(mine)) continue;
    try {
      router_->add_neighbour(other, shmem::Region::open(cards[other].region));
    } catch (const shmem::Error& error) {
      throw Error(prefix(rank()) + "Job: no way to the memory of rank " + std::to_string(other) +
                  ": " + error.what());
    }
  }
}

void Job::tell(const Layout& layout) const {
  spdlog::info("{} processes by {}, segment {} MiB each, {} usable cores, fences by {}", size(),
               launcher(), config_.segment_bytes >> 20, layout.cores,
               layout.all_enrolled ? "membarrier" : "every sender");
  if (Port* const port = router_->port()) {
    spdlog::info("{} nodes, joined by {}", layout.leaders.size(), port->link().describe());
  }
}

Job::~Job() = default;

std::vector<std::vector<std::byte>> Job::exchange_bytes(std::span<const std::byte> mine) {
  Port* const port = router_->port();
  if (port == nullptr) return bootstrap_->exchange(mine);
  std::vector<std::vector<std::byte>> all;
  port->tend_while([&] { all = bootstrap_->exchange(mine); });
  return all;
}

void Job::connect(Endpoint& endpoint, Tag tag) {
  endpoint.set_tag(tag);
  const std::vector<Name> names = exchange(endpoint.name());
  for (Rank rank = 0; rank < size(); ++rank) endpoint.map(rank, names[rank], tag);
}

void Job::finish(Bundle& bundle) {
  barrier(bundle);
  if (router_->far_peers()) leave_network();
  bootstrap_->finished();
}

// Who has passed the barrier may still be needed by those who have not: the network may want its
// hand to bring on what it has sent. So it stays at work until all have passed.
void Job::leave_network() {
  router_->port()->tend_while([this] { bootstrap_->barrier(); });
}

void Job::abort(int exit_code, const std::string& sentence) {
  bootstrap_->abort(exit_code, prefix(rank()) + sentence);
  std::abort();  // not reached; the compiler does not believe a virtual function's [[noreturn]]
}

}  // namespace am
