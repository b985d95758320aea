#include "am/router.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "am/bundle.h"
#include "am/channel_seats.h"
#include "am/port.h"

namespace am {

Router::Router(Options options, shmem::Region own)
    : options_(std::move(options)), peers_(options_.size), near_index_(options_.size) {
  add_neighbour(options_.rank, std::move(own));
}

Router::~Router() = default;

void Router::add_port(std::unique_ptr<Port> port) { port_ = std::move(port); }

void Router::add_neighbour(Rank rank, shmem::Region region) {
  if (region.size() < RegionHeader::kBytes + options_.segment_bytes) {
    throw Error("rank " + std::to_string(options_.rank) + ": the region of rank " +
                std::to_string(rank) + " has " + std::to_string(region.size()) +
                " bytes, too few for a segment of " + std::to_string(options_.segment_bytes) +
                "; SPLITC_SEGMENT must be the same for every process");
  }
  auto* header = reinterpret_cast<RegionHeader*>(region.data());
  peers_[rank] = {region.data() + RegionHeader::kBytes, header};
  regions_.push_back(std::move(region));
  for (Rank higher = rank + 1; higher < options_.size; ++higher) ++near_index_[higher];
}

ChannelSeats& Router::channel_seats() {
  if (!channel_seats_) channel_seats_ = std::make_unique<ChannelSeats>(*this);
  return *channel_seats_;
}

std::optional<shmem::ArrivalPair> Router::arrival_pair(Rank rank) const {
  const std::uint32_t own = near_index_[options_.rank];
  const std::uint32_t other = near_index_[rank];
  if (own == other || std::max(own, other) >= shmem::ArrivalBoard::kPairs) return std::nullopt;
  return shmem::ArrivalPair(self().header->puts, own, peers_[rank].header->puts, other);
}

std::uint64_t Router::segment_offset(const void* address) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto first = reinterpret_cast<std::uintptr_t>(segment());
  return at >= first && at - first < options_.segment_bytes ? at - first : options_.segment_bytes;
}

void Router::add(Bundle& bundle) {
  const std::lock_guard lock(bundles_mutex_);
  bundles_.push_back(&bundle);
  bundle_count_.store(bundles_.size(), std::memory_order_relaxed);
}

void Router::remove(Bundle& bundle) noexcept {
  const std::lock_guard lock(bundles_mutex_);
  std::erase(bundles_, &bundle);
  bundle_count_.store(bundles_.size(), std::memory_order_relaxed);
}

Bundle* Router::find_bundle(const void* thread, std::size_t& index) const {
  const std::lock_guard lock(bundles_mutex_);
  for (; index < bundles_.size(); ++index) {
    if (thread == nullptr || bundles_[index]->owner() == thread) return bundles_[index];
  }
  return nullptr;
}

bool Router::lend_activity(const void* thread) {
  const std::lock_guard lock(bundles_mutex_);
  if (borrowed_ == 0) borrower_ = thread;
  if (borrower_ != thread) return false;
  ++borrowed_;
  return true;
}

void Router::give_back_activity() noexcept {
  const std::lock_guard lock(bundles_mutex_);
  --borrowed_;
}

void Router::note_thrown(const Activity::Running& handler) {
  std::exception_ptr last = std::current_exception();
  const std::lock_guard lock(bundles_mutex_);
  thrown_.swap(last);  // what it was before may end with a call of the program's: after the lock
  thrower_ = handler;
}

Activity::Running Router::thrower_of_current() const {
  const std::lock_guard lock(bundles_mutex_);
  const bool same = thrown_ != nullptr && thrown_ == std::current_exception();
  return same ? thrower_ : Activity::Running{};
}

void Router::fatal(const std::string& sentence) const {
  options_.abort(1, "rank " + std::to_string(options_.rank) + ": " + sentence);
  std::abort();
}

}  // namespace am
