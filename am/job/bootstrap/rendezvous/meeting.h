// How the processes of a job that no launcher starts find rank 0 and convince it that they belong
// there (SPLITC_RENDEZVOUS). What they say, all in fixed sizes:
//
//   rank 0: Challenge   a random number
//   rank r: Hello       who I am, another random number, and proof that I know the secret
//   rank 0: GreetingVerdict     welcome, or why not, and proof that I know it too
//
// Every proof covers both random numbers, so none can be used a second time. What follows on the
// connection is neither hidden nor signed; no more is what the job's own messages are.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "am/job/config/config.h"
#include "am/types/types.h"
#include "shmem/descriptor.h"

namespace am {

using Connection = shmem::OwnFd;

struct MeetingPlace {
  Rendezvous where;
  Rank rank;
  std::uint32_t size;
  std::chrono::steady_clock::time_point deadline;
};

// A process that was met.
struct Met {
  Rank rank;
  Connection connection;
};

// The ranks from `first` on that one process waits for.
struct Awaited {
  Rank first;
  std::uint32_t count;
};

// Rank 0: listens until all others have connected and returns the connections, in order. Processes
// that do not belong to the job are refused, and reported on standard error. Throws Error at the
// deadline (names the missing ranks), when the address is not this machine's or in use, and when a
// connection is lost; the processes that have connected are sent the reason.
std::vector<Met> meet_others(const MeetingPlace& place);
// Meets the others by a process that listens already and that only those of `awaited` come to.
std::vector<Met> meet_others(const MeetingPlace& place, Connection listener, Awaited awaited);

// Any other rank: the connection to rank 0, or to the process that listens at that place. Throws
// Error when rank 0 refuses this process, and at the deadline, with what was heard from impostors
// that could not prove to be rank 0. What they say is also printed when it is heard, and ends
// nothing.
Connection meet_first(const MeetingPlace& place);

}  // namespace am
