#include "am/job/job.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "am/job/make_bootstrap.h"
#include "shmem/error.h"
#include "shmem/fence.h"
#include "shmem/node.h"

namespace am {
namespace {

// What each process tells the others before any memory is shared.
struct Card {
  static constexpr std::uint32_t kVersion = 1;

  std::uint32_t version;
  std::uint8_t enrolled;  // in the kernel's fences
  std::uint64_t segment_bytes;
  shmem::NodeId node;
  shmem::Region::Address region;
  std::array<std::uint64_t, 16> processors;  // a bit for each that it may run on
};
static_assert(sizeof(Card) <= Bootstrap::kMaxBlob);

std::array<std::uint64_t, 16> processor_bits() {
  std::array<std::uint64_t, 16> bits{};
  for (const int processor : shmem::allowed_processors()) {
    if (processor < 1024) bits[processor / 64] |= std::uint64_t{1} << (processor % 64);
  }
  return bits;
}

// Processors that any of the processes may run on (each may be bound to one), within the quota.
unsigned cores_together(const std::vector<Card>& cards) {
  unsigned processors = 0;
  for (std::size_t word = 0; word < 16; ++word) {
    std::uint64_t bits = 0;
    for (const Card& card : cards) bits |= card.processors[word];
    processors += static_cast<unsigned>(std::popcount(bits));
  }
  const unsigned quota = shmem::quota_cores("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota == 0 ? processors : std::min(processors, quota);
}

std::string prefix(Rank rank) { return "rank " + std::to_string(rank) + ": "; }

void check_card(const Card& mine, const Card& theirs, Rank me, Rank rank) {
  const std::string who = prefix(me) + "Job: rank " + std::to_string(rank);
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
  if (!(theirs.node == mine.node)) {
    throw Error(who +
                " is on another node or in another container, which shared memory does not "
                "reach; start the job where all processes share one pid namespace");
  }
}

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
  const std::uint32_t size = bootstrap_->size();
  shmem::Region own = make_region(me, config);
  const Card mine{Card::kVersion,     shmem::Fence::enroll(), config.segment_bytes,
                  shmem::this_node(), own.address(),          processor_bits()};
  std::vector<Card> cards(size);
  const auto blobs = bootstrap_->exchange(std::as_bytes(std::span(&mine, 1)));
  bool all_enrolled = true;
  for (Rank rank = 0; rank < size; ++rank) {
    std::memcpy(&cards[rank], blobs[rank].data(), std::min(sizeof(Card), blobs[rank].size()));
    check_card(mine, cards[rank], me, rank);
    all_enrolled = all_enrolled && cards[rank].enrolled != 0;
  }
  const unsigned cores = cores_together(cards);
  router_ = std::make_unique<Router>(
      Router::Options{
          .rank = me,
          .size = size,
          .segment_bytes = config.segment_bytes,
          .kernel_fence = all_enrolled,
          .oversubscribed = size > cores,
          .wait = config.wait,
          .abort = [this](int code,
                          const std::string& sentence) { bootstrap_->abort(code, sentence); }},
      std::move(own));
  for (Rank rank = 0; rank < size; ++rank) {
    if (rank == me) continue;
    try {
      router_->add_neighbour(rank, shmem::Region::open(cards[rank].region));
    } catch (const shmem::Error& error) {
      throw Error(prefix(me) + "Job: no way to the memory of rank " + std::to_string(rank) + ": " +
                  error.what());
    }
  }
  barrier_ = std::make_unique<Barrier>(*router_);
  bootstrap_->barrier();  // nobody leaves before all have opened its region
  if (config.verbose && me == 0) {
    spdlog::info("{} processes by {}, segment {} MiB each, {} usable cores, fences by {}", size,
                 launcher(), config.segment_bytes >> 20, cores,
                 all_enrolled ? "membarrier" : "every sender");
  }
}

Job::~Job() = default;

void Job::connect(Endpoint& endpoint, Tag tag) {
  endpoint.set_tag(tag);
  const std::vector<Name> names = exchange(endpoint.name());
  for (Rank rank = 0; rank < size(); ++rank) endpoint.map(rank, names[rank], tag);
}

void Job::finish(Bundle& bundle) {
  barrier(bundle);
  bootstrap_->finished();
}

void Job::abort(int exit_code, const std::string& sentence) {
  bootstrap_->abort(exit_code, prefix(rank()) + sentence);
  std::abort();  // not reached; the compiler does not believe a virtual function's [[noreturn]]
}

}  // namespace am
