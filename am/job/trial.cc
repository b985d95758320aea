#include <algorithm>
#include <cstddef>

#include "am/job/card.h"

namespace am {
namespace {

using Bits = std::vector<std::byte>;

// Room for so many processes of a place in what one says at a time.
constexpr std::size_t kBitsAtOnce = Bootstrap::kMaxBlob * 8;

bool has_bit(const Bits& bits, std::size_t index) {
  return index / 8 < bits.size() && (bits[index / 8] >> index % 8 & std::byte{1}) != std::byte{0};
}

void set_bit(Bits& bits, std::size_t index) {
  if (bits.size() <= index / 8) bits.resize(index / 8 + 1);
  bits[index / 8] |= std::byte{1} << index % 8;
}

// Bits of `round`, without the zeros behind the last: none, as a rule.
Bits piece(const Bits& bits, std::size_t round) {
  const std::size_t begin = std::min(bits.size(), round * Bootstrap::kMaxBlob);
  const std::size_t end = std::min(bits.size(), begin + Bootstrap::kMaxBlob);
  return {bits.begin() + static_cast<std::ptrdiff_t>(begin),
          bits.begin() + static_cast<std::ptrdiff_t>(end)};
}

// `refused` as bits, in the order of `members`.
Bits bits_of(const std::vector<Rank>& refused, const std::vector<Rank>& members) {
  Bits bits;
  for (const Rank rank : refused) {
    const auto at = std::ranges::lower_bound(members, rank);
    set_bit(bits, static_cast<std::size_t>(at - members.begin()));
  }
  return bits;
}

}  // namespace

Trial try_neighbours(const std::vector<Card>& cards, Rank me) {
  Trial trial;
  for (Rank other = 0; other < cards.size(); ++other) {
    if (other == me || !cards[other].near(cards[me])) continue;
    try {
      trial.opened.emplace_back(other, shmem::Region::open(cards[other].region));
    } catch (const shmem::Unreachable& error) {
      if (trial.refused.empty()) trial.cause = error.what();
      trial.refused.push_back(other);
    } catch (const shmem::Error& error) {
      throw Error("rank " + std::to_string(me) + ": Job: no way to the memory of rank " +
                  std::to_string(other) + ": " + error.what());
    }
  }
  return trial;
}

std::string sentence_of(const Trial& trial, Rank me) {
  const std::size_t more = trial.refused.size() - 1;
  return "rank " + std::to_string(me) + ": rank " + std::to_string(trial.refused.front()) +
         (more == 0 ? "" : " and " + std::to_string(more) + " others") +
         " on this machine cannot be reached by shared memory, so by the network: " + trial.cause;
}

std::vector<std::uint32_t> parts_of(std::span<const std::vector<std::byte>> refused) {
  std::vector<std::vector<std::size_t>> parts;
  std::vector<std::uint32_t> all;
  for (std::size_t one = 0; one < refused.size(); ++one) {
    const auto gets_on = [&](const std::vector<std::size_t>& part) {
      return std::ranges::none_of(part, [&](std::size_t other) {
        return has_bit(refused[one], other) || has_bit(refused[other], one);
      });
    };
    const auto found = std::ranges::find_if(parts, gets_on);
    all.push_back(static_cast<std::uint32_t>(found - parts.begin()));
    if (found == parts.end()) {
      parts.push_back({one});
    } else {
      found->push_back(one);
    }
  }
  return all;
}

void settle_parts(Bootstrap& bootstrap, std::vector<Card>& cards, const Trial& mine) {
  const std::vector<std::vector<Rank>> places = places_of(cards);
  std::size_t most = 0;
  Bits own;
  for (const std::vector<Rank>& place : places) {
    most = std::max(most, place.size());
    if (std::ranges::binary_search(place, bootstrap.rank())) own = bits_of(mine.refused, place);
  }
  if (most <= 1) return;
  std::vector<Bits> refused(cards.size());
  bool some = false;
  for (std::size_t round = 0; round * kBitsAtOnce < most; ++round) {
    const auto said = bootstrap.exchange(piece(own, round));
    for (Rank rank = 0; rank < said.size(); ++rank) {
      if (said[rank].empty()) continue;
      some = true;
      refused[rank].resize(round * Bootstrap::kMaxBlob);
      refused[rank].insert(refused[rank].end(), said[rank].begin(), said[rank].end());
    }
  }
  if (!some) return;
  for (const std::vector<Rank>& place : places) {
    std::vector<Bits> of_place;
    for (const Rank rank : place) of_place.push_back(std::move(refused[rank]));
    const std::vector<std::uint32_t> parts = parts_of(of_place);
    for (std::size_t i = 0; i < place.size(); ++i) cards[place[i]].part = parts[i];
  }
}

}  // namespace am
