// What a process prints when its job ends. The end does not wait for a reader who does not read.
#pragma once

#include <string_view>

namespace am {

// Prints `sentence` and a newline on standard error, in one piece. Waits for room at most half a
// second, and drops it then. Any thread.
void print_sentence(std::string_view sentence);

// Prints a last sentence of a process whose launcher kills all as soon as it hears of an abort, and
// reads no more then: standard output is flushed too, and it waits as long until the launcher has
// read.
void print_last_sentence(std::string_view sentence);

}  // namespace am
