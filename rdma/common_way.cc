#include <algorithm>
#include <string>

#include "rdma/choose.h"
#include "rdma/error.h"

namespace rdma {
namespace {

bool has(const std::vector<Way>& list, Way way) {
  return std::ranges::any_of(list, [&](Way one) { return way.includes(one); });
}

// "rank 3", "ranks 1, 2 and 7 more"
std::string ranks_text(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t kShown = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  if (ranks.size() > kShown) text += " and " + std::to_string(ranks.size() - kShown) + " more";
  return text;
}

std::vector<std::size_t> ranks_without(const std::vector<std::vector<Way>>& lists, Way way) {
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    if (!has(lists[r], way)) ranks.push_back(r);
  }
  return ranks;
}

std::string name_of(Way way, std::span<const Candidate> mine) {
  for (const Candidate& one : mine) {
    if (one.way == way) return one.provider + " on the network " + one.network;
  }
  return "its best way";
}

// Why a provider may be on loopback alone.
std::string loopback_hint(std::span<const Candidate> mine) {
  const auto found =
      std::ranges::find_if(mine, [](const Candidate& one) { return is_unprotected(one.provider); });
  if (found == mine.end()) return "";
  return "; " + found->provider +
         " does not protect a job from strangers, and is used beyond loopback only on an "
         "interface that is named";
}

[[noreturn]] void throw_apart(const std::vector<std::vector<Way>>& lists,
                              std::span<const Candidate> mine) {
  std::vector<std::size_t> empty;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    if (lists[r].empty()) empty.push_back(r);
  }
  if (!empty.empty()) throw Error("rdma: no network at all at " + ranks_text(empty));
  Way best = lists[0].front();
  for (const Way way : lists[0]) {
    if (ranks_without(lists, way).size() < ranks_without(lists, best).size()) best = way;
  }
  throw Error("rdma: no provider and network is common to all " + std::to_string(lists.size()) +
              " processes: rank 0 has " + name_of(best, mine) + " and " +
              std::to_string(lists[0].size() - 1) + " more, but " +
              ranks_text(ranks_without(lists, best)) +
              " cannot be reached that way; give all processes the same provider, and interfaces "
              "of one network" +
              loopback_hint(mine));
}

}  // namespace

Way common_way(const std::vector<std::vector<Way>>& lists, std::span<const Candidate> mine) {
  if (lists.empty()) throw Error("rdma: no list of ways was given");
  for (const Way way : lists[0]) {
    if (ranks_without(lists, way).empty()) return way;
  }
  for (const Way way : lists[0]) {
    if (way.routable() && ranks_without(lists, way.any_network()).empty()) return way.any_network();
  }
  throw_apart(lists, mine);
}

}  // namespace rdma
