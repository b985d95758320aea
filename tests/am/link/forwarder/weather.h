#pragma once

#include <cstdint>

namespace am::link::test {

// What happens to the datagrams (UDP) of a path, chosen at random from a seed: chances are in
// percent. Everything else - the TCP connections by which a job starts and ends - gets through, but
// for the pause.
struct Weather {
  unsigned drop = 0;          // never arrive
  unsigned dup = 0;           // arrive twice
  unsigned reorder = 0;       // arrive after some that are sent later
  unsigned corrupt = 0;       // arrive with a bit changed, or cut, under checksums that are right
  std::int64_t delay_ns = 0;  // all arrive later, by a random time up to that

  // From the datagram with that number on (0: never), counted in both directions, none gets
  // through for so long.
  std::uint64_t partition_at = 0;
  std::int64_t partition_ns = 0;
  // Likewise: from then on nothing at all arrives for so long, but nothing is lost.
  std::uint64_t pause_at = 0;
  std::int64_t pause_ns = 0;

  std::uint64_t seed = 1;
};

}  // namespace am::link::test
