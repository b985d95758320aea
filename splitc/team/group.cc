#include "splitc/team/group.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "splitc/team/started.h"
#include "splitc/team/teams.h"

namespace splitc::detail {

Group::Group(std::uint64_t number, std::vector<std::uint32_t> procs)
    : number_(number), procs_(std::move(procs)), box_(Teams::of_world().mail().box(number)) {
  if (!std::ranges::is_sorted(procs_)) {
    by_proc_.resize(procs_.size());
    std::iota(by_proc_.begin(), by_proc_.end(), 0u);
    std::ranges::sort(by_proc_, {}, [this](std::uint32_t rank) { return procs_[rank]; });
  }
  rank_ = *rank_of(my_proc());
  rounds_ = static_cast<std::uint32_t>(std::bit_width(procs_.size() - 1));
}

// Nothing is on its way to it: a call ends when all that others have sent in it is here.
Group::~Group() {
  if (Teams* const teams = Teams::existing()) teams->mail().end_box(number_);
}

std::optional<std::uint32_t> Group::rank_of(std::uint32_t proc) const noexcept {
  if (by_proc_.empty()) {
    const auto found = std::ranges::lower_bound(procs_, proc);
    if (found == procs_.end() || *found != proc) return std::nullopt;
    return static_cast<std::uint32_t>(found - procs_.begin());
  }
  const auto found = std::ranges::lower_bound(by_proc_, proc, {},
                                              [this](std::uint32_t rank) { return procs_[rank]; });
  if (found == by_proc_.end() || procs_[*found] != proc) return std::nullopt;
  return *found;
}

}  // namespace splitc::detail
