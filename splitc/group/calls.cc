#include "splitc/group/calls.h"

#include <functional>
#include <string>

#include "splitc/group/groups.h"
#include "splitc/group/performer.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// Where parts begin, and the end.
std::vector<std::uint64_t> begins_of(std::span<const std::uint64_t> bytes) {
  std::vector<std::uint64_t> begin{0};
  for (const std::uint64_t one : bytes) begin.push_back(begin.back() + one);
  return begin;
}

void check_counts(const OfGroup& of, std::size_t total, std::span<const std::uint64_t> bytes) {
  if (bytes.size() != of.size()) {
    refuse(of.call, std::to_string(bytes.size()) + " counts for " + std::to_string(of.size()) +
                        (of.group->is_job ? " processes" : " members") + "; pass one for each");
  }
  std::size_t left = total;
  for (const std::uint64_t one : bytes) {
    if (one <= left) {
      left -= one;
      continue;
    }
    left = 1;
    break;
  }
  if (left == 0) return;
  refuse(of.call,
         "the counts do not add up to the size of the span, " + std::to_string(total) + " bytes");
}

}  // namespace

OfGroup to_start_of_job(const GroupCall& call) {
  Groups& groups = Groups::of_world();
  groups.check_may_call(call);
  if (groups.is_notified()) {
    refuse(call,
           "called between barrier_notify() and barrier_wait(); no collective call may come "
           "between them");
  }
  return {groups.job(), call};
}

OfGroup of_job(const GroupCall& call) {
  const OfGroup of = to_start_of_job(call);
  Groups::of_world().end_started(*of.group, call);
  return of;
}

GroupPlan bcast_plan(const OfGroup& of, std::span<std::byte> data, std::uint32_t root,
                     std::uint64_t type) {
  if (root >= of.size()) {
    const bool job = of.group->is_job;
    refuse(of.call, std::string("there is no ") + (job ? "process " : "rank ") +
                        std::to_string(root) + " to be the root: the " + (job ? "job" : "team") +
                        " has " + std::to_string(of.size()));
  }
  return {.call = {Collective::kBroadcast, root, data.size(), type >> 2},
          .kind = type << 24 | root,
          .input = data.data(),
          .output = data.data()};
}

GroupPlan gather_plan(const OfGroup& of, std::span<const std::byte> mine, std::span<std::byte> all,
                      bool only_to_one, std::uint64_t type) {
  const std::size_t element = type >> 2;
  if (!only_to_one || of.rank() == 0) {
    check_span(all.size() / element,
               product(of.size(), of.group->is_job ? "processes" : "members", mine.size() / element,
                       "elements", of.call),
               of.call);
    check_apart(mine, all, mine.data() == all.data() + of.rank() * mine.size(), of.call);
  }
  return {
      .call = {only_to_one ? Collective::kGather : Collective::kAllGather, 0, mine.size(), element},
      .kind = type << 24,
      .input = mine.data(),
      .output = all.data()};
}

GroupPlan transpose_plan(const OfGroup& of, std::span<const std::byte> to,
                         std::span<std::byte> from, std::uint64_t type) {
  const std::size_t element = type >> 2;
  const std::size_t elements = to.size() / element;
  check_span(from.size() / element, elements, of.call);
  if (elements % of.size() != 0) {
    refuse(of.call, std::to_string(elements) + " elements are not " + std::to_string(of.size()) +
                        " equal parts; pass a multiple");
  }
  check_apart(to, from, false, of.call);
  return {.call = {Collective::kAllToAll, 0, to.size() / of.size(), element},
          .kind = type << 24,
          .input = to.data(),
          .output = from.data()};
}

GroupPlan reduce_plan(const OfGroup& of, std::span<const std::byte> mine,
                      std::span<std::byte> result, const Combine& combine) {
  check_span(result.size() / combine.element, mine.size() / combine.element, of.call);
  check_apart(mine, result, mine.data() == result.data(), of.call);
  return {.call = {Collective::kAllReduce, 0, mine.size(), combine.element},
          .kind = combine.kind << 24,
          .input = mine.data(),
          .output = result.data(),
          .combine = &combine};
}

void run_plan(const OfGroup& of, const GroupPlan& plan) {
  Performer(*of.group, of.call, plan).run();
}

void check_apart(std::span<const std::byte> a, std::span<const std::byte> b, bool same, Call call) {
  const auto begins_before = [](const std::byte* x, const std::byte* y) {
    return std::less<const std::byte*>()(x, y);
  };
  const bool overlap =
      begins_before(a.data(), b.data() + b.size()) && begins_before(b.data(), a.data() + a.size());
  if (same || !overlap) return;
  refuse(call, "the span for the result and that of the argument overlap; pass memory of its own");
}

void check_span(std::size_t got, std::size_t expected, Call call) {
  if (got == expected) return;
  refuse(call, "the span for the result has " + std::to_string(got) + " elements; it needs " +
                   std::to_string(expected));
}

void check_counts_of(std::span<const std::size_t> counts, std::size_t all, Call call) {
  if (counts.empty() || counts.size() == all) return;
  refuse(call, "there is room for " + std::to_string(counts.size()) +
                   " counts of what comes, and there are " + std::to_string(all) +
                   "; pass a span of as many");
}
void refuse_room(std::size_t room, std::size_t needed, Call call) {
  refuse(call, "there is room for " + std::to_string(room) + " elements, and " +
                   std::to_string(needed) +
                   " came, which are lost; pass a larger span, or the form without one");
}

GroupVarying::GroupVarying(const OfGroup& of, std::span<const std::byte> to,
                           std::span<const std::size_t> counts, std::size_t element,
                           std::uint64_t type)
    : of_(of), to_(to), type_(type) {
  std::vector<std::uint64_t> bytes(counts.begin(), counts.end());
  for (std::uint64_t& one : bytes) one = product(one, "elements", element, "bytes", of.call);
  check_counts(of, to.size(), bytes);
  to_at_ = begins_of(bytes);
  struct Part {
    std::uint64_t at;  // in what its sender has
    std::uint64_t bytes;
  };
  std::vector<Part> mine(of.size()), theirs(of.size());
  for (std::uint32_t rank = 0; rank < of.size(); ++rank) mine[rank] = {to_at_[rank], bytes[rank]};
  GroupPlan plan = transpose_plan(of, std::span(mine), std::span(theirs));
  plan.kind = type << 24;
  run_plan(of, plan);
  for (std::uint32_t rank = 0; rank < of.size(); ++rank) {
    their_at_.push_back(theirs[rank].at);
    bytes[rank] = theirs[rank].bytes;
  }
  begin_ = begins_of(bytes);
}

void GroupVarying::move(std::byte* from) const {
  const am::schedule::Member member{of_.size(), of_.rank()};
  const bool reads = of_.group->has_boards() && of_.group->is_on_one_node();
  const am::schedule::Schedule schedule =
      reads ? am::schedule::on_node::all_to_all_varying(member, to_.size(), their_at_, begin_)
            : am::schedule::all_to_all_varying(member, to_at_, begin_);
  run_plan(of_,
           {.call = {}, .kind = type_, .input = to_.data(), .output = from, .schedule = &schedule});
}

}  // namespace splitc::detail
