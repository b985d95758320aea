#include "am/job/card.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "shmem/doorbell.h"
#include "shmem/mailbox_layout.h"

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
  if (theirs.limits != mine.limits) {
    throw Error(who + " has another SPLITC_COLLECTIVES; give every process the same");
  }
  if (theirs.statistics != mine.statistics) {
    throw Error(who + " has another SPLITC_STATS; give every process the same");
  }
  if (theirs.trace != mine.trace) {
    throw Error(who +
                (theirs.trace != 0 ? " has SPLITC_TRACE, and this one has not"
                                   : " has no SPLITC_TRACE, and this one has") +
                "; set it in every process or none");
  }
  if (theirs.threads != mine.threads) {
    throw Error(who + " runs with .threads = " + std::to_string(theirs.threads) +
                " and this one with " + std::to_string(mine.threads) +
                "; give run() the same in every process");
  }
  theirs.part = 0;
  return theirs;
}

using Boot = decltype(shmem::NodeId::boot);

// The processes of one machine, each of which may be bound to some processors.
struct Machine {
  std::uint32_t processes = 0;
  decltype(Card::processors) processors{};  // that any of them may run on
  unsigned quota = 0;

  void add(const Card& card) {
    ++processes;
    for (std::size_t i = 0; i < processors.size(); ++i) processors[i] |= card.processors[i];
    quota = std::max(quota, card.quota);
  }
  // How many processors they may keep busy.
  unsigned cores() const {
    unsigned count = 0;
    for (const std::uint64_t word : processors) count += static_cast<unsigned>(std::popcount(word));
    return quota == 0 ? count : std::min(count, quota);
  }
};

struct BootHash {
  std::size_t operator()(const Boot& boot) const noexcept {
    return std::hash<std::string_view>()({boot.data(), boot.size()});
  }
};

// What two cards have in common exactly if they are near.
struct Place {
  shmem::NodeId node;
  std::int32_t pretended;
  std::uint64_t part;

  bool operator==(const Place&) const = default;
};

struct PlaceHash {
  std::size_t operator()(const Place& place) const noexcept {
    return BootHash()(place.node.boot) ^ place.node.place ^
           (static_cast<std::size_t>(place.pretended) + (place.part << 32)) * 0x9e3779b97f4a7c15;
  }
};

Place place_of(const Card& card) { return {card.node, card.pretended, card.part}; }

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
  card.quota = shmem::quota_cores("/proc/self/cgroup", "/sys/fs/cgroup");
  card.limits = config.limits;
  card.statistics = static_cast<std::uint8_t>(config.statistics);
  card.threads = static_cast<std::uint16_t>(config.threads);
  card.trace = config.trace.empty() ? 0 : 1;
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

std::vector<std::vector<Rank>> places_of(const std::vector<Card>& cards) {
  std::vector<std::vector<Rank>> places;
  std::unordered_map<Place, std::size_t, PlaceHash> known;  // to where it is in places
  for (Rank rank = 0; rank < cards.size(); ++rank) {
    const auto [found, is_new] = known.try_emplace(place_of(cards[rank]), places.size());
    if (is_new) places.emplace_back();
    places[found->second].push_back(rank);
  }
  return places;
}

std::string warning_of(const Layout& layout, Rank me) {
  if (layout.near.size() <= shmem::kMaxInboxes || layout.near.front() != me) return "";
  const std::string most = std::to_string(shmem::kMaxInboxes);
  return "rank " + std::to_string(me) + ": Job: this node has " +
         std::to_string(layout.near.size()) +
         " processes, and an endpoint takes messages of at most " + most +
         " of its node at a time: a request of one more is an Error; start at most " + most +
         " processes on a node (splitcrun --nodes pretends several), or let senders unmap";
}

Layout lay_out(const std::vector<Card>& cards, Rank me) {
  const Card& mine = cards[me];
  Layout layout;
  std::unordered_map<Boot, Machine, BootHash> machines;
  std::vector<std::uint32_t> processes;                       // by node
  std::unordered_map<Place, std::uint32_t, PlaceHash> nodes;  // to what it is in layout.leaders
  for (Rank rank = 0; rank < cards.size(); ++rank) {
    const Card& card = cards[rank];
    const auto number = static_cast<std::uint32_t>(layout.leaders.size());
    const auto [node, is_new] = nodes.try_emplace(place_of(card), number);
    if (is_new) {
      layout.leaders.push_back(rank);
      processes.push_back(0);
    }
    ++processes[node->second];
    layout.nodes.push_back(node->second);
    machines[card.node.boot].add(card);
    if (!card.near(mine)) continue;
    layout.near.push_back(rank);
    layout.all_enrolled = layout.all_enrolled && card.enrolled != 0;
  }
  layout.node = layout.nodes[me];
  // Then the leaders say it all.
  if (std::ranges::is_sorted(layout.nodes)) layout.nodes = {};
  layout.most_near = *std::ranges::max_element(processes);
  layout.here = machines[mine.node.boot].processes;
  layout.cores = machines[mine.node.boot].cores();
  return layout;
}

}  // namespace am
