#include "splitc/team/team.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "am/am.h"
#include "splitc/team/teams.h"

namespace splitc {
namespace {

// What each member of a team that splits says.
struct Wish {
  std::int64_t colour;
  std::int64_t key;
  std::uint64_t number;  // of the new team, if this is its first member
};

}  // namespace

team team::world() { return team(detail::Teams::of_world().everybody()); }

team team::node() { return team(detail::Teams::of_world().node()); }

std::uint32_t team::proc(std::uint32_t rank) const {
  const detail::Group& group = this->group("team::proc");
  if (rank < group.size()) [[likely]]
    return group.proc(rank);
  detail::refuse("team::proc", "there is no rank " + std::to_string(rank) + ": the team has " +
                                   std::to_string(group.size()) + ", 0 to " +
                                   std::to_string(group.size() - 1));
}

team team::split(std::int64_t colour, std::int64_t key, Where where) const {
  const detail::OfTeam of = this->of({"team::split", where});
  detail::Teams& teams = detail::Teams::of_world();
  const std::vector<Wish> wishes =
      detail::team_gather(of, Wish{colour, key, teams.next_number()}, false);
  if (colour < 0) return {};
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < of.size(); ++rank) {
    if (wishes[rank].colour == colour) ranks.push_back(rank);
  }
  std::ranges::stable_sort(ranks, {}, [&](std::uint32_t rank) { return wishes[rank].key; });
  if (ranks.front() == of.rank()) teams.use_number();
  const std::uint64_t number = wishes[ranks.front()].number;
  for (std::uint32_t& rank : ranks) rank = of.group->proc(rank);
  return team(std::make_shared<detail::Group>(number, std::move(ranks)));
}

team team::select(std::span<const std::uint32_t> ranks, Where where) const {
  const detail::Call call("team::select", where);
  const detail::Group& group = this->group(call);
  std::vector<std::uint32_t> sorted(ranks.begin(), ranks.end());
  std::ranges::sort(sorted);
  if (!sorted.empty() && sorted.back() >= group.size()) {
    detail::refuse(call, "there is no rank " + std::to_string(sorted.back()) + ": the team has " +
                             std::to_string(group.size()));
  }
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    detail::refuse(call, "rank " + std::to_string(*twice) + " is listed twice");
  }
  const auto mine = std::ranges::find(ranks, group.rank());
  team made = mine == ranks.end() ? split(none, 0, where)
                                  : split(sorted.front(), mine - ranks.begin(), where);
  if (!made) return made;
  bool same = made.size() == ranks.size();
  for (std::uint32_t rank = 0; same && rank < made.size(); ++rank) {
    same = made.proc(rank) == group.proc(ranks[rank]);
  }
  if (same) return made;
  detail::refuse(call, "the processes on the list of this one, of " + std::to_string(ranks.size()) +
                           " ranks, have not passed the same; pass it at each of them");
}

}  // namespace splitc
