#include "splitc/group/group.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "am/collective/barrier.h"
#include "am/job/config/config.h"
#include "am/job/job.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "splitc/group/groups.h"
#include "splitc/group/started.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

constexpr std::size_t kSchedules = 8;  // that are kept

bool is_copied(std::uint64_t item) noexcept {
  return item > NodeBoard::kFew && item <= am::schedule::Schedule::kCopied;
}
std::uint64_t in_lines(std::uint64_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) noexcept {
  hash = (hash ^ with) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

}  // namespace

Group::Group(std::uint64_t number, std::vector<std::uint32_t> procs, std::vector<BoardName> boards)
    : number_(number),
      procs_(std::move(procs)),
      board_names_(std::move(boards)),
      inbox_(Groups::of_world().mail().inbox(number)) {
  if (!std::ranges::is_sorted(procs_)) {
    by_proc_.resize(procs_.size());
    std::iota(by_proc_.begin(), by_proc_.end(), 0u);
    std::ranges::sort(by_proc_, {}, [this](std::uint32_t rank) { return procs_[rank]; });
  }
  rank_ = *rank_of(my_proc());
  bool all_have = true;
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (is_far(procs_[rank])) continue;
    if (rank != rank_) near_.push_back(rank);
    all_have = all_have && !board_names_[rank].is_none();
  }
  if (all_have && !near_.empty()) {
    boards_.resize(size());
    boards_[rank_] = &world().node_board(my_proc(), board_names_[rank_].index());
    for (const std::uint32_t rank : near_) {
      boards_[rank] = &world().node_board(procs_[rank], board_names_[rank].index());
    }
    first_near_ = std::min(rank_, near_.front());
    is_crowded_ = world().router().options().oversubscribed;
  }
  const auto lock = Groups::of_world().lock();
  inbox_.group = this;
}

// Nothing is on its way to it: a call ends when all that others have sent in it is here.
Group::~Group() {
  Groups* const groups = Groups::existing();
  if (groups == nullptr) return;
  const auto lock = groups->lock();
  groups->mail().end_inbox(number_);
  if (board_names_[rank_].is_none()) return;
  groups->boards().retire(board_names_[rank_], near_boards(am::schedule::kAllMembers));
}

void Group::flush() const {
  if (!is_on_one_node()) world().router().port()->flush();
}

std::vector<Boards::Member> Group::near_boards(std::uint32_t rank) const {
  std::vector<Boards::Member> boards;
  for (const std::uint32_t one : near_) {
    if (has_boards() && (rank == one || rank == am::schedule::kAllMembers)) {
      boards.push_back({procs_[one], board_names_[one]});
    }
  }
  return boards;
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
  CallText text{bytes, kind, {}, {}};
  std::strncpy(text.name, name, sizeof text.name - 1);
  if (where.line() != 0) {
    const std::string place = std::string(where.file_name()) + ":" + std::to_string(where.line());
    const std::size_t most = sizeof text.place - 1;
    place.copy(text.place, most, place.size() > most ? place.size() - most : 0);
  }
  return text;
}

Group::Made& Group::note(const GroupCall& call, const GroupPlan& plan) noexcept {
  ++calls_;
  const std::uint64_t bytes = plan.about != 0 ? plan.about : plan.call.bytes;
  const auto digest = static_cast<std::uint32_t>(mixed(mixed(call.name.hash, bytes), plan.kind));
  digest_ = static_cast<std::uint32_t>(mixed(digest_, digest));
  Made& made = made_[calls_ % kRemembered];
  made = {calls_, digest, digest_, false, false, call.name.text, bytes, plan.kind, call.where};
  return made;
}

Group::Made& Group::begin_call(const GroupCall& call, const GroupPlan& plan) noexcept {
  Made& made = note(call, plan);
  if (plan.is_a_barrier()) {
    made.is_a_barrier = true;
    digest_ = 0;
  }
  return made;
}

void Group::begin_barrier(const GroupCall& call) noexcept {
  note(call, {});
  passed_barrier();
}

void Group::passed_barrier() noexcept {
  ahead_ = 0;
  unasked_ = 0;
  half_ = 1 - half_;
  used_ = 0;
}

std::vector<std::uint32_t> Group::digests(std::uint32_t call) const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t back = kAhead + 1; back-- > 0;) {
    const Made* const one = made(call - back);
    if (one != nullptr) all.push_back(one->digest);
    if (one == nullptr || (back != 0 && (one->is_a_barrier || one->was_judged))) all.clear();
  }
  return all;
}

void Group::judge(const Verdict& verdict) noexcept {
  verdict_ = verdict;
  judged_through_ = calls_;
  digest_ = kJudged;
  ahead_ = kAhead;
  is_unsettled = true;
  for (std::uint32_t back = 0; back < kRemembered; ++back) {
    Made& one = made_[(calls_ - back) % kRemembered];
    one.was_judged = true;
    if (one.number == verdict.call) return;
  }
}

const Group::Written& Group::written(const am::schedule::Call& call, bool meets) {
  const auto known = std::ranges::find_if(
      written_, [&](const Written& one) { return one.meets == meets && one.call == call; });
  if (known != written_.end()) [[likely]] {
    if (known != written_.begin()) std::rotate(written_.begin(), known, known + 1);
    return written_.front();
  }
  if (!placement_) {
    std::vector<std::uint64_t> nodes;
    const am::Nodes& all = world().job().barrier().nodes();
    for (const std::uint32_t proc : procs_) nodes.push_back(all.of(proc));
    placement_.emplace(nodes);
  }
  const auto choose = [this](const am::schedule::Call& one) {
    const auto near = !has_boards()  ? am::schedule::Near::kMessages
                      : is_crowded() ? am::schedule::Near::kReadsInTurns
                                     : am::schedule::Near::kReads;
    return am::schedule::choose(one, *placement_, rank_, near, world().job().config().limits);
  };
  am::schedule::Schedule made;
  if (meets) made = choose({});
  made.append(
      choose(call),
      {.members = {}, .input = am::schedule::input(0, 0), .output = am::schedule::output(0, 0)});
  if (written_.size() == kSchedules) written_.pop_back();
  written_.push_front({call, meets, std::move(made)});
  return written_.front();
}

// All members come to the same, as it depends on the calls since the last barrier only.
void Group::place_items(const am::schedule::Schedule& schedule) noexcept {
  std::size_t index = 0;
  for (const auto& item : schedule.items()) {
    std::uint32_t& at = copied_at_[index++];
    at = kNoRoom;
    if (!is_copied(item.most) || in_lines(item.most) > NodeBoard::kHalf - used_) continue;
    at = static_cast<std::uint32_t>(half_ * NodeBoard::kHalf) + used_;
    used_ += static_cast<std::uint32_t>(in_lines(item.most));
  }
}

const am::schedule::Schedule& Group::schedule(const GroupPlan& plan) {
  goes_unasked_ = false;
  const am::schedule::Schedule& schedule =
      plan.schedule != nullptr ? *plan.schedule : chosen(plan.call);
  place_items(schedule);
  return schedule;
}

const am::schedule::Schedule& Group::chosen(const am::schedule::Call& call) {
  const bool is_a_barrier = am::schedule::is_a_barrier(call.operation);
  const std::uint64_t bytes = call.bytes * size();
  goes_unasked_ = !is_a_barrier && !is_on_one_node() && call.bytes > Mail::kMost &&
                  call.bytes <= Exchange::kUnasked && bytes <= kUnasked;
  const bool too_far = ahead_ == kAhead || (goes_unasked_ && unasked_ + bytes > kUnasked);
  const bool meets = !is_a_barrier && too_far;
  const Written& chosen = written(call, meets);
  ++ahead_;
  if (is_a_barrier || meets) passed_barrier();
  if (goes_unasked_) unasked_ += bytes;
  return chosen.schedule;
}

}  // namespace splitc::detail
