// What all processes do or have together: quiesce(), how their aggregators fit, and an object each.
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "am/collective/barrier.h"
#include "am/collective/nodes.h"
#include "am/core/endpoint.h"
#include "am/job/job.h"
#include "am/types/types.h"
#include "splitc/group/calls.h"
#include "splitc/pointer/allocate.h"
#include "splitc/rpc/dist_object.h"
#include "splitc/rpc/forwarder.h"
#include "splitc/rpc/node_aggregator.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/place.h"
#include "splitc/world/world.h"

namespace splitc {

void quiesce(am::Here where) {
  const detail::OfGroup job = detail::of_job({"quiesce", where});
  detail::context().endpoint.flush(where);
  if (detail::is_threaded()) world().service().flush(where);  // long results
  detail::run_plan(job, {});
}

void quiet(am::Here where) {
  detail::check_may_wait({"quiet", where});
  detail::context().endpoint.flush(where);
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

// --- An object of each

namespace {

// By number. No number is used twice: a call may still be on its way to an object that an exception
// has ended. Never destroyed, as objects may be static.
struct Objects {
  std::shared_mutex mutex;  // guards the rest, among threads
  std::unordered_map<std::uint32_t, void*> by_number;
  std::uint32_t made = 0;
};
Objects& objects() {
  static Objects& all = *new Objects;
  return all;
}

}  // namespace

std::uint32_t add_dist_object(void* object) {
  check_may_wait("dist_object");
  const auto lock = lock_among_threads(objects().mutex);
  const std::uint32_t number = ++objects().made;
  objects().by_number.emplace(number, object);
  return number;
}

void* dist_object_at(std::uint32_t number) {
  std::shared_lock lock(objects().mutex, std::defer_lock);
  if (is_threaded()) lock.lock();
  const auto found = objects().by_number.find(number);
  if (found != objects().by_number.end()) return found->second;
  refuse("dist_object", "this process has no object number " + std::to_string(number) +
                            " any more; keep it until every call that names it has returned");
}

void end_dist_object(std::uint32_t number) noexcept {
  at_end([] { quiesce(am::SourceLocation()); });  // the program has not written it
  const auto lock = lock_among_threads(objects().mutex);
  objects().by_number.erase(number);
}

}  // namespace detail
}  // namespace splitc
