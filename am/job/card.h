// What each process gives to all others before any memory is shared. Cards say which processes may
// be near one another, and a trial which are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"
#include "shmem/node.h"
#include "shmem/region.h"

namespace am {

struct Card {
  // Another one whenever anything changes that processes share: this, what is in shared memory
  // (RegionHeader, mailboxes), and packets.
  static constexpr std::uint32_t kVersion = 9;

  std::uint32_t version;
  std::int32_t pretended;  // which node (splitcrun --nodes, SPLITC_WAY); else -1
  std::uint64_t segment_bytes;
  shmem::NodeId node;
  shmem::Region::Address region;
  std::array<std::uint64_t, 16> processors;  // a bit for each that it may run on
  std::uint32_t enrolled;                    // not 0: in the kernel's fences
  std::uint32_t quota;                       // processors' worth of time; 0: no limit
  std::uint32_t statistics;                  // not 0: SPLITC_STATS
  std::uint16_t trace;                       // not 0: SPLITC_TRACE
  std::uint16_t threads;                     // that run() was told of
  schedule::Limits limits;                   // SPLITC_COLLECTIVES
  // 0 where it is sent. Of one place, those of another part cannot be opened (trial.cc).
  std::uint64_t part;

  // Whether two processes share memory, or at least a machine.
  bool near(const Card& other) const noexcept {
    return node == other.node && pretended == other.pretended && part == other.part;
  }
  bool same_machine(const Card& other) const noexcept { return node.boot == other.node.boot; }
};
static_assert(sizeof(Card) <= Bootstrap::kMaxBlob);

// This process's, with `region` as its segment.
Card make_card(const Config& config, const shmem::Region& region);

// Everybody's, by rank. Collective. Throws Error if they cannot be one job.
std::vector<Card> exchange_cards(Bootstrap& bootstrap, const Card& mine);

// Which ranks are near each other by their cards, in order.
std::vector<std::vector<Rank>> places_of(const std::vector<Card>& cards);

// What the cards say of the job, as seen by one process.
struct Layout {
  std::vector<Rank> near;            // processes of its node, itself among them, in order
  std::vector<Rank> leaders;         // the lowest rank of every node, in order
  std::uint32_t node = 0;            // which of them is its own
  std::vector<std::uint32_t> nodes;  // as in Router::Options
  std::uint32_t most_near = 0;       // processes of the node that has most
  std::uint32_t here = 0;            // processes of its machine
  unsigned cores = 0;                // that these may use
  bool all_enrolled = true;          // those of its node
};
// What the lowest process of a node says at the start if its node has more processes than may send
// to an endpoint at a time; "": nothing, or `me` is another one.
std::string warning_of(const Layout& layout, Rank me);

// Time in proportion to the number of cards, however many nodes they are of.
Layout lay_out(const std::vector<Card>& cards, Rank me);

// What one process has found out about the others of its place.
struct Trial {
  std::vector<std::pair<Rank, shmem::Region>> opened;  // their segments, by rank
  std::vector<Rank> refused;                           // those that it may not open
  std::string cause;                                   // of the first; "": none
};

// Tries to open the segment of each process whose card is near `me`. Not collective. Throws Error
// if there is no room for one; that the system keeps one closed is no error.
Trial try_neighbours(const std::vector<Card>& cards, Rank me);

// That the first of those that `me` may not open is far, and why, in one sentence.
std::string sentence_of(const Trial& trial, Rank me);

// Gives processes that cannot open each other's segments a different Card::part, in `cards` of
// every process alike; near are only processes of which each can open each. Collective: no process
// returns before all have tried.
void settle_parts(Bootstrap& bootstrap, std::vector<Card>& cards, const Trial& mine);

// In the order of the processes of one place, which part each is in: the first whose members it
// gets on with. refused[i] has a bit for each that i may not open, from the lowest of a byte; bits
// that are not there are 0.
std::vector<std::uint32_t> parts_of(std::span<const std::vector<std::byte>> refused);

}  // namespace am
