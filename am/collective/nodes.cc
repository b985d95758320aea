#include "am/collective/nodes.h"

#include <algorithm>

#include "am/route/router.h"

namespace am {

Nodes::Nodes(const Router& router)
    : mine_(router.options().node),
      of_(router.options().nodes),
      begin_(router.options().leaders.size() + 1),
      ranks_(router.size()) {
  for (Rank rank = 0; rank < router.size(); ++rank) ++begin_[of(rank) + 1];
  for (std::uint32_t node = 0; node < count(); ++node) begin_[node + 1] += begin_[node];
  for (std::uint32_t node = 0; node < count(); ++node) most_ = std::max(most_, ranks(node).size());
  std::vector<std::uint32_t> next = begin_;
  for (Rank rank = 0; rank < router.size(); ++rank) ranks_[next[of(rank)]++] = rank;
}

}  // namespace am
