// SIGUSR1 asks a job what it does. It ends no process of one.
#pragma once

namespace am {

// From now on SIGUSR1 is only noted, unless the program has a handler of its own, or ignores it. It
// stays so after the job: the signal may be sent to all processes while some have left theirs.
void note_stall_questions();

// Whether one came since the last call. Any thread.
bool take_stall_question() noexcept;

}  // namespace am
