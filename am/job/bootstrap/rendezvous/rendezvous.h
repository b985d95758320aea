// This room is for jobs that no launcher holds together: the processes find rank 0 over TCP, prove
// that they belong to the job, and stay connected to it. It uses am/job/bootstrap, which does not
// know it, am/job/config/config.h, am/sodium and shmem. Nobody is believed before the proof, no
// message may be larger than the job's largest, and no loss goes unnoticed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"
#include "am/types/types.h"

namespace am {

// A process that no launcher started, or one that says nothing of the others: it was given its rank
// and a place to meet (SPLITC_RENDEZVOUS). Throws Error when it does not meet the others within
// `patience`.
std::unique_ptr<Bootstrap> join_rendezvous(
    Rank rank, std::uint32_t size, const Rendezvous& where,
    std::chrono::milliseconds patience = std::chrono::seconds(30));

}  // namespace am
