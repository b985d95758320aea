#pragma once

#include <cstdint>
#include <string>

#include "am/types/types.h"

namespace am {

// What an endpoint has sent and received since it was made (AMX had such statistics beyond AM-II).
// Plain counters, numbers of messages, written by the bundle's thread, which alone may read them.
// In a handler of a sequential bundle the messages that the running poll delivers may be missing.
// Messages of the library itself (credits, barriers, farewells) are not counted.
struct Stats {
  struct Category {
    std::uint64_t requests_sent = 0;
    std::uint64_t one_way_sent = 0;
    std::uint64_t replies_sent = 0;  // by handlers; empty replies are not counted, here and below
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
  // All that were sent and received. Quiescence is detected by this sum.
  std::uint64_t messages() const noexcept {
    std::uint64_t sum = returned_here + returned_by_us;
    for (const Category& c : of) {
      sum += c.requests_sent + c.one_way_sent + c.replies_sent + c.requests_received +
             c.one_way_received + c.replies_received;
    }
    return sum;
  }

  // Requests that found no credit at once, or no inbox or no answer to their introduction, and
  // waited.
  std::uint64_t credit_stalls = 0;
  std::uint64_t returned_here = 0;   // own messages that came back
  std::uint64_t returned_by_us = 0;  // others' messages sent back

  // stats[Kind::kShort].requests_sent
  const Category& operator[](Kind kind) const noexcept { return of[static_cast<int>(kind)]; }
  Category& operator[](Kind kind) noexcept { return of[static_cast<int>(kind)]; }
};

// A table for people, a few lines long. Allocates.
std::string to_string(const Stats& stats);

}  // namespace am
