#include "am/job/card.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string>

#include "shmem/cores.h"
#include "shmem/fence.h"

namespace am {
namespace {

// The card that `blob` is. Throws Error if that process cannot be one of this job.
Card read_card(std::span<const std::byte> blob, const Card& mine, Rank me, Rank rank) {
  const std::string who = "rank " + std::to_string(me) + ": Job: rank " + std::to_string(rank);
  Card theirs{};
  if (blob.size() == sizeof theirs) std::memcpy(&theirs, blob.data(), sizeof theirs);
  if (theirs.version != mine.version) {
    throw Error(who +
                " was built from another version of Splitphase; rebuild all programs of the "
                "job from one");
  }
  if (theirs.segment_bytes != mine.segment_bytes) {
    throw Error(who + " has a segment of " + std::to_string(theirs.segment_bytes) +
                " bytes and this one of " + std::to_string(mine.segment_bytes) +
                "; give every process the same SPLITC_SEGMENT");
  }
  return theirs;
}

// Processors that any process of this machine may run on (each may be bound to one), within the
// quota.
unsigned cores_together(const std::vector<Card>& cards, const Card& mine) {
  unsigned processors = 0;
  for (std::size_t word = 0; word < mine.processors.size(); ++word) {
    std::uint64_t bits = 0;
    for (const Card& card : cards) {
      if (card.same_machine(mine)) bits |= card.processors[word];
    }
    processors += static_cast<unsigned>(std::popcount(bits));
  }
  const unsigned quota = shmem::quota_cores("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota == 0 ? processors : std::min(processors, quota);
}

}  // namespace

Card make_card(const Config& config, const shmem::Region& region) {
  Card card{};
  card.version = Card::kVersion;
  card.pretended = is_apart(config.way) ? getpid() : config.node;
  card.segment_bytes = config.segment_bytes;
  card.node = shmem::this_node();
  card.region = region.address();
  for (const int processor : shmem::allowed_processors()) {
    if (processor < 1024) card.processors[processor / 64] |= std::uint64_t{1} << (processor % 64);
  }
  card.enrolled = shmem::Fence::enroll() ? 1 : 0;
  return card;
}

std::vector<Card> exchange_cards(Bootstrap& bootstrap, const Card& mine) {
  const auto blobs = bootstrap.exchange(std::as_bytes(std::span(&mine, 1)));
  std::vector<Card> cards;
  for (Rank rank = 0; rank < blobs.size(); ++rank) {
    cards.push_back(read_card(blobs[rank], mine, bootstrap.rank(), rank));
  }
  return cards;
}

Layout lay_out(const std::vector<Card>& cards, Rank me) {
  const Card& mine = cards[me];
  Layout layout;
  layout.cores = cores_together(cards, mine);
  for (Rank rank = 0; rank < cards.size(); ++rank) {
    const Card& card = cards[rank];
    const auto leader = std::ranges::find_if(
        layout.leaders, [&](Rank one) { return cards[one].near(card); });
    layout.nodes.push_back(static_cast<std::uint32_t>(leader - layout.leaders.begin()));
    if (leader == layout.leaders.end()) layout.leaders.push_back(rank);
    if (card.same_machine(mine)) ++layout.here;
    if (!card.near(mine)) continue;
    ++layout.near;
    layout.all_enrolled = layout.all_enrolled && card.enrolled != 0;
  }
  layout.node = layout.nodes[me];
  if (layout.leaders.size() == 1) layout.nodes.clear();
  return layout;
}

}  // namespace am
