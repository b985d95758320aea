#include "am/collective/nodes.h"

#include <unistd.h>

#include <algorithm>

#include "am/route/router.h"
#include "am/types/types.h"
#include "shmem/cross_memory.h"
#include "shmem/region.h"

namespace am {

Nodes::Nodes(const Router& router)
    : mine_(router.options().node),
      of_(router.options().nodes),
      begin_(router.options().leaders.size() + 1) {
  if (of_.empty()) {
    std::ranges::copy(router.options().leaders, begin_.begin());
    begin_.back() = router.size();
  } else {
    sort(router.size());
  }
}

void Nodes::sort(std::uint32_t processes) {
  for (Rank rank = 0; rank < processes; ++rank) ++begin_[of_[rank] + 1];
  for (std::uint32_t node = 0; node < count(); ++node) begin_[node + 1] += begin_[node];
  ranks_.resize(processes);
  std::vector<std::uint32_t> next = begin_;
  for (Rank rank = 0; rank < processes; ++rank) ranks_[next[of_[rank]]++] = rank;
}

std::uint32_t Nodes::of(Rank rank) const noexcept {
  if (!of_.empty()) return of_[rank];
  return static_cast<std::uint32_t>(std::ranges::upper_bound(begin_, rank) - begin_.begin()) - 1;
}

namespace {

const std::uint64_t known = shmem::CrossMemory::kKnownWord;

}  // namespace

Neighbour Neighbour::self() noexcept {
  return {static_cast<std::uint64_t>(getpid()), reinterpret_cast<std::uintptr_t>(&known)};
}

bool Neighbour::is_readable() const noexcept {
  return shmem::CrossMemory::works_with(static_cast<pid_t>(pid), known_word);
}

void Neighbour::read(void* to, std::uint64_t address, std::size_t bytes) const {
  try {
    shmem::CrossMemory(static_cast<pid_t>(pid)).read(to, address, bytes);
  } catch (const shmem::Error& error) {
    throw Error(error.what());
  }
}

}  // namespace am
