#pragma once

#include <cstdint>
#include <string>

#include "am/types/types.h"

namespace am {

// What an endpoint has done since it was made. Plain counters of the bundle's thread.
struct Stats {
  struct Category {
    std::uint64_t requests_sent = 0;
    std::uint64_t one_way_sent = 0;
    std::uint64_t replies_sent = 0;  // by handlers; the empty ones are not counted, here and below
    std::uint64_t requests_received = 0;
    std::uint64_t one_way_received = 0;
    std::uint64_t replies_received = 0;

    std::uint64_t& received(Role role) noexcept {
      return role == Role::kRequest  ? requests_received
             : role == Role::kOneWay ? one_way_received
                                     : replies_received;
    }
  };
  Category of[kKinds];  // by Kind
  // All that were sent and received.
  std::uint64_t messages() const noexcept {
    std::uint64_t sum = returned_here + returned_by_us;
    for (const Category& c : of) {
      sum += c.requests_sent + c.one_way_sent + c.replies_sent + c.requests_received +
             c.one_way_received + c.replies_received;
    }
    return sum;
  }

  std::uint64_t credit_stalls = 0;   // requests that found no credit at once
  std::uint64_t returned_here = 0;   // own messages that came back
  std::uint64_t returned_by_us = 0;  // others' messages sent back

  const Category& operator[](Kind kind) const noexcept { return of[static_cast<int>(kind)]; }
  Category& operator[](Kind kind) noexcept { return of[static_cast<int>(kind)]; }
};

// A table for people.
std::string to_string(const Stats& stats);

}  // namespace am
