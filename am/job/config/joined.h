// What launchers have set in the environment of a process, and the mark that a process of a job
// leaves there: a program that it starts inherits what the launcher has set for it, and is no rank
// all the same.
#pragma once

#include <string>

#include "am/job/config/config.h"

namespace am {

// For the programs that this process starts from now on, as `rank` of `size` of the job that
// `config` describes. Writes the environment, which no other thread may read meanwhile.
void leave_mark(const Config& config, Rank rank, std::uint32_t size);
// They are what they were: the job has ended for this process.
void remove_mark();

// Why this process, which is to become what `config` says, is no rank of that job: a process that
// is one has started it. "": it is none of these, or a launcher has started it anew; then what that
// one says is all that is left of launchers in `config`.
std::string settle_launcher(Config& config);

// Sets what launchers other than splitcrun have told this process: Config::pmix, pmi and stranger.
// Throws Error if it is nonsense.
void read_other_launchers(Config& config);

// Where both pmix and pmi are set, as one launcher has started the other, leaves that which has
// started this process.
void choose_launcher(Config& config);

}  // namespace am
