#include "splitc/team/calls.h"

#include <algorithm>
#include <string>

#include "am/types/types.h"
#include "splitc/team/teams.h"

namespace splitc::detail {
namespace {

using How = TeamPlan::How;

// Bytes that go along with the barrier: of each member, or each part; of all; and of a root, whose
// bytes are one message then.
constexpr std::size_t kEach = 1024;
constexpr std::size_t kAll = 64 * 1024;
constexpr std::size_t kOfRoot = am::max_medium();

bool is_little(const OfTeam& of, std::size_t bytes) noexcept {
  return bytes <= kEach && bytes * of.size() <= kAll;
}

// Where parts begin, and the end.
std::vector<std::size_t> begins_of(std::span<const std::size_t> bytes) {
  std::vector<std::size_t> begin{0};
  for (const std::size_t one : bytes) begin.push_back(begin.back() + one);
  return begin;
}

void check_counts(const OfTeam& of, std::size_t total, std::span<const std::size_t> bytes) {
  if (bytes.size() != of.size()) {
    refuse(of.call, std::to_string(bytes.size()) + " counts for " + std::to_string(of.size()) +
                        " members; pass one for each");
  }
  std::size_t left = total;
  for (const std::size_t one : bytes) {
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

void refuse_no_team(Call call) {
  refuse(call,
         "this process is in no such team: it is empty, as split() made it for a colour of none; "
         "ask by if (team) before");
}

OfTeam of_team(const SharedOwner<Group>& group, const TeamCall& call, bool waits) {
  if (group == nullptr) refuse_no_team(call);
  Teams& teams = Teams::of_world();
  if (waits) {
    teams.before_call(*group, call);
  } else {
    teams.check_may_call(call);
  }
  return {group, call};
}

TeamPlan bcast_plan(const OfTeam& of, std::span<std::byte> data, std::uint32_t root,
                    std::uint64_t type) {
  if (root >= of.size()) {
    refuse(of.call, "there is no rank " + std::to_string(root) + " to be the root: the team has " +
                        std::to_string(of.size()));
  }
  return {.how = How::kBroadcast,
          .carried = data.size() <= kOfRoot,
          .root = root,
          .bytes = data.size(),
          .kind = type << 24 | root,
          .from = data.data(),
          .to = data.data()};
}

TeamPlan gather_plan(const OfTeam& of, std::span<const std::byte> mine, std::span<std::byte> all,
                     bool only_to_one, std::uint64_t type) {
  if (!only_to_one || of.rank() == 0) {
    const std::size_t size = type >> 2;
    check_span(all.size() / size,
               product(of.size(), "members", mine.size() / size, "elements", of.call), of.call);
    check_apart(mine, all, mine.data() == all.data() + of.rank() * mine.size(), of.call);
  }
  return {.how = How::kGather,
          .carried = is_little(of, mine.size()),
          .only_to_one = only_to_one,
          .bytes = mine.size(),
          .kind = type,
          .from = mine.data(),
          .to = all.data()};
}

TeamPlan transpose_plan(const OfTeam& of, std::span<const std::byte> to, std::span<std::byte> from,
                        std::size_t element, std::uint64_t type) {
  const std::size_t elements = to.size() / element;
  check_span(from.size() / element, elements, of.call);
  if (elements % of.size() != 0) {
    refuse(of.call, std::to_string(elements) + " elements are not " + std::to_string(of.size()) +
                        " equal parts; pass a multiple");
  }
  check_apart(to, from, false, of.call);
  const std::size_t part = to.size() / of.size();
  return {.how = How::kTranspose,
          .carried = is_little(of, part),
          .bytes = part,
          .kind = type,
          .from = to.data(),
          .to = from.data()};
}

TeamPlan reduce_plan(const OfTeam& of, std::span<const std::byte> mine, std::span<std::byte> result,
                     const Combine& combine) {
  check_span(result.size() / combine.element, mine.size() / combine.element, of.call);
  check_apart(mine, result, mine.data() == result.data(), of.call);
  return {.how = How::kReduce,
          .carried = is_little(of, mine.size()),
          .bytes = mine.size(),
          .kind = combine.kind,
          .from = mine.data(),
          .to = result.data(),
          .combine = &combine};
}

void run_plan(const OfTeam& of, const TeamPlan& plan) { Exchange(*of.group, of.call, plan).run(); }

started<> start_team_spans(const OfTeam& of, const TeamPlan& plan) {
  return start_made<void>(
      SharedOwner<StartedTeamSpans>(new StartedTeamSpans(of.group, of.call, plan)));
}

TeamVarying::TeamVarying(const OfTeam& of, std::span<const std::byte> to,
                         std::span<const std::size_t> counts, std::size_t element,
                         std::uint64_t type)
    : of_(of), to_(to), type_(type) {
  std::vector<std::size_t> bytes(counts.begin(), counts.end());
  for (std::size_t& one : bytes) one = product(one, "elements", element, "bytes", of.call);
  check_counts(of, to.size(), bytes);
  std::vector<std::size_t> theirs(of.size());
  run_plan(of,
           transpose_plan(of, std::as_bytes(std::span(bytes)),
                          std::as_writable_bytes(std::span(theirs)), sizeof(std::size_t), type));
  from_at_ = begins_of(bytes);
  begin_ = begins_of(theirs);
}

void TeamVarying::move(std::byte* from) const {
  run_plan(of_, {.how = How::kVarying,
                 .kind = type_,
                 .from = to_.data(),
                 .to = from,
                 .from_at = from_at_.data(),
                 .to_at = begin_.data()});
}

}  // namespace splitc::detail
