// Jobs under splitcrun, for the tests of the launcher.
#pragma once

#include <string>
#include <vector>

#include "tests/am/job/program.h"

namespace am::test {

using Words = std::vector<std::string>;

inline constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
inline constexpr const char* kLaunched = "tests/am/job/launched";

// splitcrun with these words behind it.
Words splitcrun(Words words);

// The program `launched` in a job of that size.
Words launched(int size, Words words);

Words sorted_lines(const std::string& text);

// At least `count` children of a process, in the order of their start. Waits for them.
std::vector<pid_t> wait_for_children(pid_t parent, std::size_t count);

// Until that process, of anybody's, has ended, whether or not it was waited for.
void wait_until_ended(pid_t pid);

// The process of splitcrun that watches the job, and those of the job by rank. Wait for them.
pid_t supervisor_of(const Program& job);
std::vector<pid_t> processes_of(const Program& job, std::size_t count);

}  // namespace am::test
