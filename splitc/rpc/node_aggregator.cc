#include "splitc/rpc/node_aggregator.h"

#include "am/collective/barrier.h"
#include "am/collective/nodes.h"
#include "am/job/job.h"
#include "am/types/types.h"
#include "splitc/world/world.h"

namespace splitc::detail {

std::vector<std::uint32_t> receivers_by_process() {
  const am::Nodes& nodes = world().job().barrier().nodes();
  std::size_t my_place = 0;
  while (nodes.ranks(nodes.mine())[my_place] != my_proc()) ++my_place;
  std::vector<std::uint32_t> receivers(procs());
  for (std::uint32_t node = 0; node < nodes.count(); ++node) {
    const am::RankList there = nodes.ranks(node);
    const std::uint32_t taker = there[my_place % there.size()];
    for (const am::Rank proc : there) receivers[proc] = node == nodes.mine() ? proc : taker;
  }
  return receivers;
}

}  // namespace splitc::detail
