#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "am/collective/algorithms.h"
#include "am/collective/limits.h"
#include "splitc/collective/barrier.h"
#include "splitc/collective/collective.h"
#include "splitc/group/calls.h"
#include "splitc/start/run.h"
#include "splitc/team/team.h"
#include "splitc/world/world.h"
#include "tools/doctor/in_job.h"

namespace am::doctor {
namespace {

using schedule::Limits;
using schedule::Member;
using schedule::Operation;
using schedule::Schedule;
using schedule::Vector;

// Two algorithms for one call, and the limit up to which the first is taken.
struct Rivals {
  std::uint64_t Limits::*limit;
  Operation operation;
  bool counts_all;                                      // the limit is of the bytes of all members
  std::uint64_t least, most;                            // of the limit
  std::function<Schedule(std::uint64_t)> little, much;  // of the bytes of a call
};

class Tuning {
 public:
  Tuning() : to_(splitc::procs() * kMost), from_(to_.size()) {}

  Limits measure() {
    Limits limits;
    for (const Rivals& rivals : all()) limits.*rivals.limit = crossover(rivals);
    if (me_.size == 2) limits.all_reduce_doubling /= 2;  // which goes for more
    const std::uint64_t chain = ns(Operation::kScan, 8, scan_chain(me_, 8, kInclusive));
    const std::uint64_t doubling = ns(Operation::kScan, 8, scan(me_, 8, kInclusive));
    limits.scan_chain = chain <= doubling
                            ? std::max<std::uint64_t>(limits.scan_chain, me_.size)
                            : std::min<std::uint64_t>(limits.scan_chain, me_.size - 1);
    return limits;
  }

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{4} << 20;  // bytes of a call, of all members
  static constexpr auto kInclusive = schedule::Scan::kInclusive;

  std::vector<Rivals> all() const {
    using namespace schedule;
    const Member me = me_;
    const auto vector = [](std::uint64_t bytes) { return Vector{bytes / 8, 8}; };
    return {
        {&Limits::broadcast_tree, Operation::kBroadcast, false, 8 << 10, kMost,
         [=](auto bytes) { return broadcast_tree(me, 0, bytes); },
         [=](auto bytes) { return broadcast_scattered(me, 0, vector(bytes)); }},
        {&Limits::reduce_tree, Operation::kReduce, false, 4 << 10, kMost,
         [=](auto bytes) { return reduce_tree(me, 0, bytes); },
         [=](auto bytes) { return reduce_halving(me, 0, vector(bytes)); }},
        {&Limits::all_reduce_doubling, Operation::kAllReduce, false, 4 << 10, kMost,
         [=](auto bytes) { return all_reduce_doubling(me, bytes); },
         [=](auto bytes) { return all_reduce_halving(me, vector(bytes)); }},
        {&Limits::gather_tree, Operation::kGather, false, 64, 64 << 10,
         [=](auto bytes) { return gather_tree(me, 0, bytes, 2); },
         [=](auto bytes) { return gather_tree(me, 0, bytes, std::max(me.size, 2u)); }},
        {&Limits::all_gather_bruck, Operation::kAllGather, true, 1 << 10, kMost,
         [=](auto bytes) { return all_gather_bruck(me, bytes); },
         [=](auto bytes) { return all_gather_ring(me, bytes); }},
        {&Limits::all_to_all_bruck, Operation::kAllToAll, false, 8, 16 << 10,
         [=](auto bytes) { return all_to_all_bruck(me, bytes); },
         [=](auto bytes) { return all_to_all_pairwise(me, bytes); }},
    };
  }

  // The largest size, of powers of 2, up to which the first of them is not slower; one slower time
  // in between is taken for chance. All processes come to the same, as each time is that of all.
  std::uint64_t crossover(const Rivals& rivals) {
    std::uint64_t limit = rivals.least / 2;
    for (std::uint64_t size = rivals.least, slower = 0; size <= rivals.most && slower < 2;
         size *= 2) {
      const std::uint64_t bytes =
          rivals.counts_all ? std::max<std::uint64_t>(8, size / me_.size / 8 * 8) : size;
      const bool is_slower = ns(rivals.operation, bytes, rivals.little(bytes)) >
                             ns(rivals.operation, bytes, rivals.much(bytes));
      slower = is_slower ? slower + 1 : 0;
      if (!is_slower) limit = size;
    }
    return limit;
  }

  // Of the process that needs the longest, the least of several rounds.
  std::uint64_t ns(Operation operation, std::uint64_t bytes, const Schedule& schedule) {
    constexpr int kRounds = 7, kCalls = 16;
    std::plus<> add;
    const splitc::detail::Combine combine = splitc::detail::combine_by<double>(add);
    const splitc::detail::GroupPlan plan{.call = {operation, 0, bytes, 8},
                                         .input = reinterpret_cast<const std::byte*>(to_.data()),
                                         .output = reinterpret_cast<std::byte*>(from_.data()),
                                         .combine = &combine,
                                         .schedule = &schedule};
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      splitc::barrier();
      const double start = splitc::get_seconds();
      for (int i = 0; i < (bytes > 65536 ? 2 : kCalls); ++i) {
        splitc::detail::run_plan(splitc::detail::of_job({"splitc-doctor --tune", {}}), plan);
      }
      const double seconds = splitc::get_seconds() - start;
      least = std::min(least, splitc::all_reduce(seconds, splitc::maximum()));
    }
    return static_cast<std::uint64_t>(1e9 * least);
  }

  const Member me_{splitc::procs(), splitc::my_proc()};
  std::vector<char> to_, from_;
};

int tune_job() {
  if (splitc::procs() < 2 || splitc::team::node().size() != 1) {
    if (splitc::my_proc() == 0) {
      std::fprintf(stderr,
                   "splitc-doctor --tune measures between nodes: start it with one process "
                   "on each, as splitcrun -n 8 --nodes 8 splitc-doctor --tune does\n");
    }
    return 2;
  }
  const Limits limits = Tuning().measure();
  if (splitc::my_proc() != 0) return 0;
  for (const schedule::Limit& limit : schedule::kLimits) {
    std::printf("%s=%llu\n", std::string(limit.name).c_str(),
                static_cast<unsigned long long>(limits.*limit.value));
  }
  return 0;
}

}  // namespace

int tune(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args) { return tune_job(); });
}

}  // namespace am::doctor
