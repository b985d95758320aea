// Reading words of all processes at random, in each style.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "examples/bale/kernel.h"

namespace bale {

// An index, as the process that has it and its number there.
struct Place {
  std::uint32_t proc;
  std::uint32_t local;
};
inline Place place_of(std::uint32_t index) { return {owner(index), local(index)}; }

template <class T>
T word_of(const Part<T>& part, std::uint32_t local_index) {
  return part.mine[local_index];
}

// By a call for each, so many of them in flight.
template <class T>
void gather_by_calls(const splitc::dist_object<Part<T>>& parts, std::span<const Place> places,
                     std::span<T> to) {
  constexpr std::size_t kCallsAhead = 64;
  std::deque<splitc::future<T>> calls;
  std::size_t answered = 0;
  const auto take_first = [&] {
    to[answered++] = calls.front().result();
    calls.pop_front();
  };
  for (const Place& at : places) {
    if (calls.size() == kCallsAhead) take_first();
    calls.push_back(splitc::rpc(at.proc, &word_of<T>, parts, at.local));
  }
  while (!calls.empty()) take_first();
}

// In rounds: a parcel of indices for each process, and one of words back.
template <class T>
void gather_in_rounds(const Way& way, std::span<const T> mine, std::span<const Place> places,
                      std::span<T> to) {
  const std::size_t room = std::min(way.parcels->room<std::uint32_t>(), way.answers->room<T>());
  std::vector<std::vector<std::size_t>> asked(splitc::procs());  // by process: which of `to`
  for (auto& one : asked) one.reserve(room);
  std::size_t next = 0;
  for (bool more = true; more;) {
    for (; next < places.size(); ++next) {
      const Place& at = places[next];
      if (asked[at.proc].size() == room) break;
      asked[at.proc].push_back(next);
      way.parcels->add(at.proc, at.local);
    }
    more = way.parcels->exchange<std::uint32_t>(
        next < places.size(), [&](std::uint32_t from, std::span<const std::uint32_t> indices) {
          for (const std::uint32_t index : indices) way.answers->add(from, mine[index]);
        });
    way.answers->exchange<T>(false, [&](std::uint32_t from, std::span<const T> answers) {
      for (std::size_t k = 0; k < answers.size(); ++k) to[asked[from][k]] = answers[k];
      asked[from].clear();
    });
  }
}

// to[i] becomes the word at places[i] of `table`, whose parts are `parts`. Collective.
template <class T>
void gather(const Way& way, const splitc::spread_array<T>& table,
            splitc::dist_object<Part<T>>& parts, std::span<const Place> places, std::span<T> to) {
  if (way.style == Style::kPlain) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      splitc::get(to[i], table.on(places[i].proc) + places[i].local);
      if (i % kAhead == kAhead - 1) splitc::sync();
    }
    splitc::sync();
  } else if (way.style == Style::kAggregator) {
    auto words = splitc::aggregate_lookups<std::uint32_t>(
        parts, [](const Part<T>& part, std::uint32_t index) { return word_of(part, index); });
    for (std::size_t i = 0; i < places.size(); ++i) {
      words.get(places[i].proc, places[i].local, to[i]);
    }
    words.wait();
  } else if (way.style == Style::kRounds) {
    gather_in_rounds<T>(way, table.mine(), places, to);
  } else {
    gather_by_calls(parts, places, to);
  }
  splitc::barrier();
}

}  // namespace bale
