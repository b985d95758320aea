// What all processes do together, and how aggregators of all fit together.
#include "am/collective/barrier.h"
#include "am/collective/nodes.h"
#include "am/core/endpoint.h"
#include "am/job/job.h"
#include "am/types/types.h"
#include "splitc/group/calls.h"
#include "splitc/rpc/forwarding.h"
#include "splitc/rpc/node_aggregator.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/place.h"
#include "splitc/world/world.h"

namespace splitc {

void quiesce(am::SourceLocation where) {
  const detail::OfGroup job = detail::of_job({"quiesce", where});
  world().endpoint().flush(where);
  detail::run_plan(job, {});
}

namespace detail {

void refuse_other_flush(Call call) {
  refuse(call,
         "another process flushes another aggregator than this one; where several forward updates, "
         "flush them in the same order in every process");
}

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

}  // namespace detail
}  // namespace splitc
