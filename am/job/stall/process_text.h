// What is said of one process.
#pragma once

#include <string>
#include <vector>

#include "am/job/stall/watch.h"
#include "am/observe/activity.h"

namespace am {

// "in barrier at a.cc:40", "finished", ... `polls`: it has polled since the observation before.
std::string describe_process(const ProcessView& process, bool polls);

// "barrier at a.cc:40".
std::string describe_call(const ProcessView& process);

// "rank 2", or "3 processes".
std::string count_text(const std::vector<Rank>& ranks);

// "ranks 0-1, 3".
std::string ranks_text(const std::vector<Rank>& ranks);

}  // namespace am
