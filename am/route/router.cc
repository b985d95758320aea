#include "am/route/router.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "am/route/event_descriptor.h"
#include "am/route/port.h"

namespace am {

Router::Router(Options options, shmem::Region own)
    : options_(std::move(options)), segments_(options_.size) {
  add_neighbour(options_.rank, std::move(own));
  if (options_.survives) deaths_.emplace(options_.size);
}

Router::~Router() = default;

void Router::add_port(Owned<Port> port) { port_ = std::move(port); }

void Router::add_neighbour(Rank rank, shmem::Region region) {
  if (region.size() < RegionHeader::kBytes + options_.segment_bytes) {
    throw Error("rank " + std::to_string(options_.rank) + ": the region of rank " +
                std::to_string(rank) + " has " + std::to_string(region.size()) +
                " bytes, too few for a segment of " + std::to_string(options_.segment_bytes) +
                "; SPLITC_SEGMENT must be the same for every process");
  }
  segments_[rank] = region.data() + RegionHeader::kBytes;
  regions_.push_back(std::move(region));
  near_ranks_.insert(std::ranges::upper_bound(near_ranks_, rank), rank);
}

std::uint32_t Router::near_index(Rank rank) const {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(near_ranks_, rank) -
                                    near_ranks_.begin());
}

Rings& Router::rings() {
  const std::lock_guard lock(rings_mutex_);
  if (rings_ == nullptr) rings_ = std::make_unique<Rings>(self().header->bell);
  return *rings_;
}

std::optional<shmem::ArrivalPair> Router::arrival_pair(Rank rank) const {
  const std::uint32_t own = near_index(options_.rank);
  const std::uint32_t other = near_index(rank);
  if (own == other || std::max(own, other) >= shmem::ArrivalBoard::kPairs) return std::nullopt;
  return shmem::ArrivalPair(self().header->puts, own, RegionHeader::of(segments_[rank]).puts,
                            other);
}

std::uint64_t Router::segment_offset(const void* address) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto first = reinterpret_cast<std::uintptr_t>(segment());
  if (at >= first && at - first < options_.segment_bytes) return at - first;
  for (const auto& [pages, offset] : also_) {
    const std::uint64_t inside = at - reinterpret_cast<std::uintptr_t>(pages.data());
    if (inside < pages.size()) return offset + inside;
  }
  return options_.segment_bytes;
}

void Router::map_also(std::span<std::byte> pages, std::uint64_t offset) {
  regions_.front().map_also(pages, RegionHeader::kBytes + offset);
  also_.push_back({pages, offset});
}

void Router::forget_also(std::span<std::byte> pages) noexcept {
  std::erase_if(also_, [&](const Also& also) { return also.pages.data() == pages.data(); });
}

void Router::note_death(Rank rank, pid_t pid) {
  if (deaths_->note(rank, pid)) self().header->bell.alert(fence());
}

bool Router::discard_segment(Rank rank) const noexcept {
  return madvise(segments_[rank], options_.segment_bytes, MADV_REMOVE) == 0;
}

void Router::need_all(Call call) const {
  if (!deaths_) return;
  if (const std::optional<Rank> dead = deaths_->first()) {
    throw PeerDied(options_.rank, call, *dead);
  }
}

void Router::refuse(Call call, const std::string& what) const {
  throw Error(refusal_text(rank(), call, what));
}

void Router::fatal(const std::string& sentence) const {
  options_.abort(1, "rank " + std::to_string(options_.rank) + ": " + sentence);
  std::abort();
}

}  // namespace am
