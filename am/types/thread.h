#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "am/types/signals.h"
#include "am/types/types.h"

namespace am {

// Starts a thread of the library, to which no signal of the program goes (am/types/signals.h).
// Throws Error where there is none to be had, as what std::thread says then is the system's word
// for it alone, which names neither the process nor what it was about to do. `who` begins the
// sentence, such as "rank 3: Job: ", and `purpose` says what the thread is for.
template <class Thread = std::thread, class Body>
Thread start_thread(const std::string& who, const char* purpose, Body&& body) {
  const SignalsBlocked blocked;  // the thread inherits it
  try {
    return Thread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    throw Error(who + "cannot start a thread " + purpose + " (" + error.code().message() +
                "); raise the limit of processes and threads (ulimit -u, or pids.max of the "
                "control group)");
  }
}

}  // namespace am
