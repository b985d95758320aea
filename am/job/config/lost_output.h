// Output that an option or a variable requested and that cannot be written: a sentence on standard
// error says so, and the exit code is not 0 (docs/jobs.md, "Output").
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace am {

// Writes `text` to `file`, and all that is before it. 0, or the errno that says why it is not
// there.
int write_all(std::FILE* file, std::string_view text) noexcept;

// The answer of a program that does nothing else: writes `text` to standard output. Throws Error,
// for the program to say, and to leave with another code than 0.
void print_answer(std::string_view text);

// In a process of a job: says `sentence`, which names the rank, what is lost and why. This process
// then leaves with 1 instead of 0, by exit() or the end of main, unless the next function has
// delegated that. Not for two threads at a time.
void note_lost_output(const std::string& sentence);

// From now on note_lost_output() sets *`lost` and leaves the exit code to the reader of it;
// nullptr: ends this. A launcher that learns of lost output in this way need not end the other
// processes, which may still have work to do.
void tell_of_lost_output(std::atomic<std::uint32_t>* lost) noexcept;

}  // namespace am
