#include "splitc/team/team.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "splitc/group/groups.h"

namespace splitc {
namespace {

// What each member of a team that splits says.
struct Wish {
  std::int64_t colour;
  std::int64_t key;
  std::uint64_t number;  // of the new team, if this is its first member
  detail::BoardName board;
};

// What each member of a team that selects says.
struct List {
  enum Fault : std::uint32_t { kNone, kNoSuchRank, kTwice };
  std::uint32_t fault;
  std::uint32_t wrong;     // the rank that it is about
  std::uint64_t size;      // 0: this member is not on its list
  std::uint64_t contents;  // a hash of the ranks in their order
  std::uint64_t number;    // of the new team, if this is its first member
  detail::BoardName board;
};

List list_of(std::span<const std::uint32_t> ranks, const detail::Group& group, std::uint64_t number,
             detail::BoardName board) {
  List list{List::kNone, 0, 0, 0, number, board};
  std::vector<std::uint32_t> sorted(ranks.begin(), ranks.end());
  std::ranges::sort(sorted);
  if (!sorted.empty() && sorted.back() >= group.size()) {
    list.fault = List::kNoSuchRank;
    list.wrong = sorted.back();
  } else if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    list.fault = List::kTwice;
    list.wrong = *twice;
  } else if (std::ranges::find(ranks, group.rank()) != ranks.end()) {
    const auto bytes = std::as_bytes(ranks);
    list.size = ranks.size();
    list.contents =
        std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return list;
}

// The first rank whose list not all that are on it have passed; as many as there are lists if none.
std::size_t first_alone(std::span<const List> lists) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    if (lists[rank].size != 0) ranks.push_back(rank);
  }
  const auto key = [&](std::size_t rank) {
    return std::pair(lists[rank].contents, lists[rank].size);
  };
  std::ranges::stable_sort(ranks, {}, key);
  std::size_t first = lists.size();
  for (auto at = ranks.begin(); at != ranks.end();) {
    const auto end =
        std::find_if(at, ranks.end(), [&](auto rank) { return key(rank) != key(*at); });
    if (static_cast<std::uint64_t>(end - at) != lists[*at].size) first = std::min(first, *at);
    at = end;
  }
  return first;
}

// Every member has all lists, so all find the same fault, if there is one.
void check_lists(std::span<const List> lists, detail::Call call) {
  const auto of = [](std::size_t rank) { return "the list of rank " + std::to_string(rank); };
  const auto wrong = std::ranges::find_if(lists, [](const List& list) { return list.fault != 0; });
  if (wrong != lists.end()) {
    const std::string who = of(static_cast<std::size_t>(wrong - lists.begin()));
    const std::string rank = std::to_string(wrong->wrong);
    if (wrong->fault == List::kTwice) {
      detail::refuse(call, "rank " + rank + " is listed twice, on " + who);
    }
    detail::refuse(call, "there is no rank " + rank + ", which is on " + who + ": the team has " +
                             std::to_string(lists.size()));
  }
  const std::size_t alone = first_alone(lists);
  if (alone == lists.size()) return;
  detail::refuse(call, "the members on " + of(alone) + ", of " + std::to_string(lists[alone].size) +
                           " ranks, have not passed the same; pass it at each of them");
}

// A group of some ranks of another one, each of which has said which board it has.
template <class Said>
detail::SharedOwner<detail::Group> made_of(const detail::OfGroup& of, std::uint64_t number,
                                           std::vector<std::uint32_t> ranks,
                                           const std::vector<Said>& said,
                                           detail::ReservedBoard& mine) {
  std::vector<detail::BoardName> boards;
  for (std::uint32_t& rank : ranks) {
    boards.push_back(said[rank].board);
    rank = of.group->proc(rank);
  }
  detail::SharedOwner<detail::Group> group(
      new detail::Group(number, std::move(ranks), std::move(boards)));
  mine.keep();
  return group;
}

}  // namespace

void detail::refuse_no_team(Call call) {
  refuse(call,
         "this process is in no such team: it is empty, as split() made it for a colour of none; "
         "ask by if (team) before");
}

detail::OfGroup detail::of_team(const SharedOwner<Group>& group, const GroupCall& call,
                                bool waits) {
  if (group == nullptr) refuse_no_team(call);
  Groups& groups = Groups::of_world();
  groups.check_may_call(call);
  if (waits) groups.end_started(*group, call);
  return {group, call};
}

team team::world() { return team(detail::Groups::of_world().everybody()); }

team team::node() { return team(detail::Groups::of_world().node()); }

std::uint32_t team::proc(std::uint32_t rank, am::Here where) const {
  const detail::Call call("team::proc", where);
  const detail::Group& group = this->group(call);
  if (rank < group.size()) [[likely]]
    return group.proc(rank);
  detail::refuse(call, "there is no rank " + std::to_string(rank) + ": the team has " +
                           std::to_string(group.size()) + ", 0 to " +
                           std::to_string(group.size() - 1));
}

team team::split(std::int64_t colour, std::int64_t key, am::Here where) const {
  const detail::OfGroup of = this->of({"team::split", where});
  detail::Groups& groups = detail::Groups::of_world();
  detail::ReservedBoard board(groups.boards());
  const std::vector<Wish> wishes =
      detail::group_gather(of, Wish{colour, key, groups.take_number(), board.name()}, false);
  if (colour < 0) return {};
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < of.size(); ++rank) {
    if (wishes[rank].colour == colour) ranks.push_back(rank);
  }
  std::ranges::stable_sort(ranks, {}, [&](std::uint32_t rank) { return wishes[rank].key; });
  const std::uint64_t number = wishes[ranks.front()].number;
  return team(made_of(of, number, std::move(ranks), wishes, board));
}

team team::select(std::span<const std::uint32_t> ranks, am::Here where) const {
  const detail::OfGroup of = this->of({"team::select", where});
  detail::Groups& groups = detail::Groups::of_world();
  detail::ReservedBoard board(groups.boards());
  const std::vector<List> lists = detail::group_gather(
      of, list_of(ranks, *of.group, groups.take_number(), board.name()), false);
  check_lists(lists, of.call);
  if (lists[of.rank()].size == 0) return {};
  std::vector<std::uint32_t> members(ranks.begin(), ranks.end());
  return team(made_of(of, lists[ranks.front()].number, std::move(members), lists, board));
}

}  // namespace splitc
