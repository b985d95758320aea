#pragma once

#include <cstdint>

namespace am::link::window {

// What has happened to the datagrams of a process since its start.
struct Counters {
  // Sent.
  std::uint64_t data = 0;      // with a payload
  std::uint64_t repeated = 0;  // ... of which again
  std::uint64_t acks = 0;      // acknowledgements without a payload
  std::uint64_t probes = 0;    // questions without a payload
  std::uint64_t timeouts = 0;  // nothing had been heard for long
  // Received.
  std::uint64_t received = 0;    // taken, the next four included
  std::uint64_t duplicates = 0;  // payloads that had come before: dropped
  std::uint64_t early = 0;       // kept until those before them came
  std::uint64_t beyond = 0;      // outside the window: dropped
  std::uint64_t no_room = 0;     // early, and no memory left for them: dropped
  std::uint64_t old = 0;         // of another incarnation of their source: dropped
  std::uint64_t stale = 0;       // sent long before others that have come: dropped
  std::uint64_t malformed = 0;   // with the right seal, and impossible: dropped
  std::uint64_t forged = 0;      // not of this job, or damaged on their way: dropped
};

}  // namespace am::link::window
