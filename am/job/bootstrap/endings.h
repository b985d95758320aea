// What a process prints when its job ends, and what happens when it leaves before that.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "am/types/types.h"

namespace am {

// Prints `sentence` and a newline on standard error, in one piece. Waits for room at most half a
// second, and then drops the sentence: the end does not wait for a reader that does not read. Any
// thread.
void print_sentence(std::string_view sentence);

// Prints a last sentence of a process whose launcher kills all as soon as it hears of an abort, and
// reads no more then: standard output is flushed too, and it waits as long until the launcher has
// read.
void print_last_sentence(std::string_view sentence);

// By exit(), quick_exit() or the end of main: launchers that see only an exit code of 0 take half
// of the work for all of it. (_exit(), and exec, run no handlers and cannot be noticed here.)
//
// From here on, leaving this process so calls `report` with the exit code (-1: of quick_exit, which
// does not say), once; an exit code of 0 then becomes 1. A later call replaces an earlier one.
// Children of this process that leave are none of the job's and call nothing. Not for two threads
// at a time.
void expect_no_exit(std::function<void(int exit_code)> report);

// Expects that of a process of a job: prints early_exit_sentence() where the process says nothing
// by its exit code (0, or unknown), and then calls `end_others`, which may be empty, with the code
// that it leaves with, from 1 to 255.
void expect_no_exit(Rank rank, std::function<void(int exit_code)> end_others);

// The process may leave.
void permit_exit();

// "rank 2: left with exit code 0 before it had finished the job (...), so the job ends".
std::string early_exit_sentence(Rank rank, int exit_code);

}  // namespace am
