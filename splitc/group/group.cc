#include "splitc/group/group.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "am/collective/barrier.h"
#include "am/job/job.h"
#include "splitc/group/groups.h"
#include "splitc/group/started_call.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

constexpr std::size_t kSchedules = 8;  // that are kept

std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) noexcept {
  hash = (hash ^ with) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

}  // namespace

Group::Group(std::uint64_t number, std::vector<std::uint32_t> procs)
    : number_(number), procs_(std::move(procs)), inbox_(Groups::of_world().mail().inbox(number)) {
  if (!std::ranges::is_sorted(procs_)) {
    by_proc_.resize(procs_.size());
    std::iota(by_proc_.begin(), by_proc_.end(), 0u);
    std::ranges::sort(by_proc_, {}, [this](std::uint32_t rank) { return procs_[rank]; });
  }
  rank_ = *rank_of(my_proc());
  inbox_.group = this;
}

// Nothing is on its way to it: a call ends when all that others have sent in it is here.
Group::~Group() {
  if (Groups* const groups = Groups::existing()) groups->mail().end_inbox(number_);
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

CallText Group::Made::text() const noexcept {
  CallText text{bytes, kind, {}};
  std::strncpy(text.name, name, sizeof text.name - 1);
  return text;
}

Group::Made& Group::begin_call(const GroupCall& call, const GroupPlan& plan) noexcept {
  ++calls_;
  const auto digest =
      static_cast<std::uint32_t>(mixed(mixed(call.name.hash, plan.call.bytes), plan.kind));
  Made& made = made_[calls_ % kRemembered];
  made = {calls_, digest, call.name.text, plan.call.bytes, plan.kind, false};
  return made;
}

const am::schedule::Schedule& Group::schedule(const am::schedule::Call& call) {
  const bool is_a_barrier = am::schedule::is_a_barrier(call.operation);
  const bool meets = !is_a_barrier && ++ahead_ > kAhead;
  if (is_a_barrier || meets) ahead_ = 0;
  const auto known = std::ranges::find_if(
      written_, [&](const Written& one) { return one.meets == meets && one.call == call; });
  if (known != written_.end()) [[likely]] {
    if (known != written_.begin()) std::rotate(written_.begin(), known, known + 1);
    return written_.front().schedule;
  }
  if (!placement_) {
    std::vector<std::uint64_t> nodes;
    const am::Nodes& all = world().job().barrier().nodes();
    for (const std::uint32_t proc : procs_) nodes.push_back(all.of(proc));
    placement_.emplace(nodes);
  }
  am::schedule::Schedule made;
  if (meets) made = choose({}, *placement_, rank_);
  made.append(
      choose(call, *placement_, rank_),
      {.members = {}, .input = am::schedule::input(0, 0), .output = am::schedule::output(0, 0)});
  if (written_.size() == kSchedules) written_.pop_back();
  written_.push_front({call, meets, std::move(made)});
  return written_.front().schedule;
}

}  // namespace splitc::detail
